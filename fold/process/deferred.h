/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deferred.h - samples that wait for the user part of their callchain (PERF_RECORD_CALLCHAIN_DEFERRED).
 *
 * A kernel may omit the user part of a callchain and write it once, when the thread returns to user space, for all
 * samples since it entered the kernel; a cookie connects them. Samples wait here with their kernel frames, 4,096 at
 * most, whatever the file has: beyond that the oldest continues without its user part.
 */
#ifndef PJ_DEFERRED_H
#define PJ_DEFERRED_H

#include "fold/samples/samples.h"

/* Zero is empty. */
struct deferred {
	struct deferred_sample *waiting; /* a ring, or NULL */
	/* First entry and number of entries, from the oldest waiting sample to the newest; those between may be free.
	 */
	uint32_t oldest, n;
	struct deferred_queue *queue; /* hash table by thread and cookie */
};

/* Suspends the open sample with its frames. cookie is not 0; comm is the caller's, and is returned with the sample. The
 * caller then calls deferred_give_up until it returns false. */
void deferred_put(struct deferred *deferred, struct samples *samples, uint32_t tid, uint64_t cookie, uint32_t comm);

/* Reopens one sample that waits for the user part with this cookie. Returns false if none does. */
bool deferred_take(struct deferred *deferred, struct samples *samples, uint32_t tid, uint64_t cookie, uint32_t *comm);

/* Reopens the oldest sample, whose user part will not come: if more than 4,096 wait or, at_end, if any does. Returns
 * false otherwise. */
bool deferred_give_up(struct deferred *deferred, struct samples *samples, bool at_end, uint32_t *comm);

/* Frees what *deferred owns; it becomes empty. */
void deferred_free(struct deferred *deferred);

#endif
