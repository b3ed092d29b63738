/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deferred.h - samples that wait for their user half.
 *
 * A kernel may leave out the user part of a callchain, and write it once, when the thread returns to its program: for
 * all samples since it entered the kernel, told by a number (cookie). They wait here with what is known of them. At
 * most a few thousand do, whatever a file says; the oldest goes on without its half then.
 */
#ifndef PJ_DEFERRED_H
#define PJ_DEFERRED_H

#include "fold/samples/samples.h"

struct deferred {
	struct deferred_sample *waiting; /* a ring, or NULL */
	uint32_t oldest, n;              /* from the oldest that waits to the newest; those between may be gone */
	struct deferred_queue *queue;    /* by thread and cookie */
};

/* Puts the open sample aside, with the frames that it has. cookie is not 0; comm: the caller's, given back. Behind it
 * deferred_give_up is to be called until it is false. */
void deferred_put(struct deferred *deferred, struct samples *samples, uint32_t tid, uint64_t cookie, uint32_t comm);

/* Opens one of the samples that this user half belongs to, again; false: there is no more. */
bool deferred_take(struct deferred *deferred, struct samples *samples, uint32_t tid, uint64_t cookie, uint32_t *comm);

/* Opens the oldest again, when too many wait, or, at_end, when any does: its half will not come. */
bool deferred_give_up(struct deferred *deferred, struct samples *samples, bool at_end, uint32_t *comm);

void deferred_free(struct deferred *deferred);

#endif
