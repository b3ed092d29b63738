/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batches.h - splits a window into requests, for stores with one document for each stack.
 *
 * The module chooses the size of each request and finds documents that a server refuses: it halves a refused batch,
 * down to a single document, which it reports as refused; then batches grow again. It neither sends nor waits: the
 * callback `post` sends a batch.
 *
 *	struct batches how = { .docs_max = 500, .max_bytes = 768 << 10, .open = "[", .between = ",", .shut = "]",
 *			       .add = add_document, .post = post_batch };
 *	batches_send(&how, store, window, resume, isolate, report);
 */
#ifndef PJ_BATCHES_H
#define PJ_BATCHES_H

#include "send/http/http.h"
#include "send/store.h"

/* A batch: the documents [first, first + n) of a window, which one request sends. */
struct batch {
	const struct window *window;
	/* texts that are part of each document of the window, computed by batches.frame */
	struct text fixed[2];
	/* the stack lines of this batch */
	struct str stacks;
	size_t first, n;
	/* body of the request: all documents of the batch */
	struct text body;
};

/* Parameters and state of splitting a store's windows. The store sets all members except docs_now. */
struct batches {
	/* limits of a request's body: docs_max: documents; max_bytes: bytes, which a single document may exceed */
	size_t docs_max, max_bytes;
	/* current limit of documents, lower than docs_max after the server refused a body as too large; 0: docs_max */
	size_t docs_now;
	/* text before, between and after the documents of a body; NULL: none */
	const char *open, *between, *shut;
	/* Computes the texts that all documents of a window have in common. May be NULL. */
	void (*frame)(struct text fixed[2], const struct window *window);
	/* Appends the document of one stack with weight `count` to *body. */
	void (*add)(struct text *body, const struct window *window, const struct text fixed[2], struct str stack,
		    uint64_t count);

	/* Sends the batch and returns the class of the response. *done: number of confirmed documents, from the first
	 * on; batch->n before the call; used only for class HTTP_DONE. *known: number of confirmed documents that the
	 * server already had. *state: value for the next attempt to send this batch; 0 in the first one. */
	enum http_class (*post)(void *store, struct batch *batch, size_t *done, size_t *known, uint32_t *state,
				struct store_report *report);
};

/* Implements store_ops.send for a store with batches. A window can have at most 2^32 documents. */
void batches_send(struct batches *how, void *store, const struct window *window, uint64_t *resume, bool isolate,
		  struct store_report *report);

/* Returns the verdict for the class of a response, for a batch that cannot be halved. isolate: true makes an ambiguous
 * failure a refusal (store_ops.send). */
enum store_verdict batches_verdict(enum http_class class, bool isolate);

#endif
