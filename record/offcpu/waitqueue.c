/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/waitqueue.h"

#include "common/hash.h"

static uint64_t *waitqueue_last(struct waitqueue *waitqueue, uint32_t tid)
{
	return &waitqueue->last[hash_mix(tid, 0x9E3779B97F4A7C15u) & (WAITQUEUE_SLOTS - 1)];
}

bool waitqueue_out(struct waitqueue *waitqueue, const struct wait *wait)
{
	waitqueue_in(waitqueue, wait->tid);
	if (waitqueue->head - waitqueue->tail >= WAITQUEUE_MAX)
		waitqueue_oldest(waitqueue); /* frees the oldest entries if their threads are back on a CPU */
	if (waitqueue->head - waitqueue->tail >= WAITQUEUE_MAX || waitqueue->queued[wait->class] >= WAITQUEUE_MAX / 2)
		return false;
	waitqueue->wait[waitqueue->head++ % WAITQUEUE_MAX] = *wait;
	waitqueue->queued[wait->class]++;
	*waitqueue_last(waitqueue, wait->tid) = waitqueue->head;
	return true;
}

void waitqueue_in(struct waitqueue *waitqueue, uint32_t tid)
{
	uint64_t *last = waitqueue_last(waitqueue, tid);
	struct wait *wait;

	if (*last == 0 || *last - 1 < waitqueue->tail)
		return;
	wait = &waitqueue->wait[(*last - 1) % WAITQUEUE_MAX];
	if (wait->tid != tid)
		return;
	wait->tid = 0;
	*last = 0;
}

const struct wait *waitqueue_oldest(struct waitqueue *waitqueue)
{
	while (waitqueue->tail < waitqueue->head) {
		const struct wait *wait = &waitqueue->wait[waitqueue->tail % WAITQUEUE_MAX];

		if (wait->tid)
			return wait;
		waitqueue_drop(waitqueue);
	}
	return NULL;
}

void waitqueue_drop(struct waitqueue *waitqueue)
{
	if (waitqueue->tail < waitqueue->head)
		waitqueue->queued[waitqueue->wait[waitqueue->tail++ % WAITQUEUE_MAX].class]--;
}
