/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batches.h - a window as bodies of requests, for stores that keep a document for each stack.
 *
 * Hides how much goes into one request, and how the one document is found that a server refuses: a batch that is
 * refused is halved, down to that one, which is put aside, and batches grow again. Nothing is sent here, nothing waits.
 */
#ifndef PJ_BATCHES_H
#define PJ_BATCHES_H

#include "send/http/http.h"
#include "send/store.h"

/* Documents [first, first + n) of a window, and what makes them. */
struct batch {
	const struct window *window;
	struct text fixed[2];
	struct str stacks; /* their lines */
	size_t first, n;
	struct text body;
};

struct batches {
	size_t docs_max, max_bytes;        /* bytes of a body; a single document may be larger */
	size_t docs_now;                   /* fewer, since the server said so; 0: docs_most */
	const char *open, *between, *shut; /* around the documents of a body; NULL: nothing */
	void (*frame)(struct text fixed[2],
		      const struct window *window); /* what is the same in all documents of a window; NULL: nothing */
	void (*add)(struct text *body, const struct window *window, const struct text fixed[2], struct str stack,
		    uint64_t count);

	/* Sends the batch; *done is how many of its documents, from the first on, are confirmed then (set to b->n
	 * before; looked at if DONE), of which *known were there already. *state: what it wants to keep for the next
	 * attempt, 0 when a batch is new. */
	enum http_class (*post)(void *store, struct batch *batch, size_t *done, size_t *known, uint32_t *state,
				struct store_report *report);
};

/* store_ops.send of such a store. A window of more than 2^32 documents is none. */
void batches_send(struct batches *how, void *store, const struct window *window, uint64_t *resume, bool isolate,
		  struct store_report *report);

/* A class as a verdict, where nothing can be halved. */
enum store_verdict batches_verdict(enum http_class class, bool isolate);

#endif
