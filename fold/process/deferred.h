/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deferred.h - samples that wait for the user part of their callchain (PERF_RECORD_CALLCHAIN_DEFERRED).
 *
 * A kernel may omit the user part of callchains. When the thread returns to user space, the kernel then writes one user
 * callchain for all samples since the thread entered the kernel; the record of this callchain and the samples have the
 * same cookie. Until then the samples wait in a queue, with their kernel frames. If the queue exceeds 4,096 entries,
 * its oldest sample continues without a user part.
 */
#ifndef PJ_DEFERRED_H
#define PJ_DEFERRED_H

#include "fold/samples/samples.h"

/* The samples that wait; a struct of zeros has none. */
struct deferred {
	struct deferred_sample *waiting; /* ring of samples; NULL before the first sample */
	/* oldest: ring index of the oldest waiting sample. n: number of ring entries from the oldest to the newest
	 * waiting sample; some of these entries are free, because their samples were reopened. */
	uint32_t oldest, n;
	struct deferred_queue *queue; /* hash table of queues of samples, by thread and cookie; NULL before the first */
};

/* Suspends the open sample of thread tid, and stores it with its frames. cookie must not be 0. comm is any number of
 * the caller; deferred_take and deferred_give_up return it with the sample. The caller must then call deferred_give_up
 * until it returns false. */
void deferred_put(struct deferred *deferred, struct samples *samples, uint32_t tid, uint64_t cookie, uint32_t comm);

/* Reopens the oldest sample of thread tid that waits for the user part with this cookie, pushes its kernel frames and
 * sets *comm. Returns false if no such sample waits. */
bool deferred_take(struct deferred *deferred, struct samples *samples, uint32_t tid, uint64_t cookie, uint32_t *comm);

/* Gives up waiting for the user part of the oldest sample: reopens the sample, pushes its kernel frames, sets *comm and
 * returns true. Does nothing and returns false if no sample waits or, unless at_end, the queue has at most 4,096
 * entries.
 */
bool deferred_give_up(struct deferred *deferred, struct samples *samples, bool at_end, uint32_t *comm);

/* Drops the waiting samples and frees the memory of *deferred, which becomes empty. */
void deferred_free(struct deferred *deferred);

#endif
