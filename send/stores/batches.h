/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batches.h - splits a window into the bodies of requests, for stores with one document for each stack.
 *
 * Hides the size of a request and the search for documents that a server refuses: a refused batch is halved, down to a
 * single document, which is reported as refused; then batches grow again. The module itself neither sends nor waits:
 * `post` sends a batch.
 *
 *	struct batches how = { .docs_max = 500, .max_bytes = 768 << 10, .open = "[", .between = ",", .shut = "]",
 *			       .add = add_document, .post = post_batch };
 *	batches_send(&how, store, window, resume, isolate, report);
 */
#ifndef PJ_BATCHES_H
#define PJ_BATCHES_H

#include "send/http/http.h"
#include "send/store.h"

/* A batch: the documents [first, first + n) of a window. */
struct batch {
	const struct window *window;
	/* texts that are the same in all documents of the window, computed by batches.frame */
	struct text fixed[2];
	/* the lines of the window's stacks in this batch */
	struct str stacks;
	size_t first, n;
	/* body of the request, with all documents of the batch */
	struct text body;
};

/* How a store splits windows. The store sets all members but docs_now. */
struct batches {
	/* limits of a request's body: number of documents, bytes; a single document may be larger */
	size_t docs_max, max_bytes;
	/* current limit of documents, reduced when the server refuses a body as too large; 0: docs_max */
	size_t docs_now;
	/* texts before, between and after the documents of a body; NULL: none */
	const char *open, *between, *shut;
	/* Computes the texts that all documents of a window have in common. May be NULL. */
	void (*frame)(struct text fixed[2], const struct window *window);
	/* Appends the document of a stack and its weight to body. */
	void (*add)(struct text *body, const struct window *window, const struct text fixed[2], struct str stack,
		    uint64_t count);

	/* Sends the batch and returns the class of the response. *done: number of confirmed documents, counted from the
	 * first; it is batch->n before the call and used if the class is DONE. *known: number of these that existed
	 * before. *state: value of the module that is kept for the next attempt; 0 for a new batch. */
	enum http_class (*post)(void *store, struct batch *batch, size_t *done, size_t *known, uint32_t *state,
				struct store_report *report);
};

/* Implements store_ops.send for such a store. A window with more than 2^32 documents is not supported. */
void batches_send(struct batches *how, void *store, const struct window *window, uint64_t *resume, bool isolate,
		  struct store_report *report);

/* Returns the verdict for the class of a response to a batch that cannot be halved. `isolate`: see store_ops.send. */
enum store_verdict batches_verdict(enum http_class class, bool isolate);

#endif
