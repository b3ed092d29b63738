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

/* Documents [first, first + n) of a window. */
struct batch {
	const struct window *window;
	/* texts that are the same in all documents of the window, from `frame` */
	struct text fixed[2];
	/* the lines of these stacks */
	struct str stacks;
	size_t first, n;
	/* body of the request */
	struct text body;
};

/* A store's documents and limits. The store sets all members but docs_now. */
struct batches {
	/* limits of a body: documents and bytes; a single document may be larger */
	size_t docs_max, max_bytes;
	/* present limit of documents, reduced after an error of the server; 0: docs_max */
	size_t docs_now;
	/* texts around the documents of a body; NULL: none */
	const char *open, *between, *shut;
	/* Computes the texts that all documents of a window have in common. May be NULL. */
	void (*frame)(struct text fixed[2], const struct window *window);
	/* Appends the document of a stack to body. */
	void (*add)(struct text *body, const struct window *window, const struct text fixed[2], struct str stack,
		    uint64_t count);

	/* Sends the batch and returns the class of the response. *done is the number of confirmed documents, counted
	 * from the first; it is batch->n before the call and used if the class is DONE. *known of these existed
	 * before. *state is preserved for the next attempt; it is 0 for a new batch. */
	enum http_class (*post)(void *store, struct batch *batch, size_t *done, size_t *known, uint32_t *state,
				struct store_report *report);
};

/* Implements store_ops.send for such a store. A window with more than 2^32 documents is not supported. */
void batches_send(struct batches *how, void *store, const struct window *window, uint64_t *resume, bool isolate,
		  struct store_report *report);

/* Returns the verdict for a class of response, if the batch cannot be halved. `isolate`: see store_ops.send. */
enum store_verdict batches_verdict(enum http_class class, bool isolate);

#endif
