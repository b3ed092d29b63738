/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/waitqueue.h"

#include "common/hash.h"

static uint64_t *waitqueue_last(struct waitqueue *waitqueue, uint32_t tid)
{
	return &waitqueue->last[hash_mix(tid, 0x9E3779B97F4A7C15u) & (WAITQUEUE_SLOTS - 1)];
}

struct wait *waitqueue_out(struct waitqueue *waitqueue, uint32_t tid)
{
	struct wait *wait;

	waitqueue_in(waitqueue, tid);
	if (waitqueue->head - waitqueue->tail >= WAITQUEUE_MAX && !waitqueue_oldest(waitqueue))
		waitqueue->tail = waitqueue->head;
	if (waitqueue->head - waitqueue->tail >= WAITQUEUE_MAX)
		return NULL;
	wait = &waitqueue->wait[waitqueue->head++ % WAITQUEUE_MAX];
	*wait = (struct wait){ .tid = tid };
	*waitqueue_last(waitqueue, tid) = waitqueue->head;
	return wait;
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
		waitqueue->tail++;
	}
	return NULL;
}

void waitqueue_drop(struct waitqueue *waitqueue)
{
	if (waitqueue->tail < waitqueue->head)
		waitqueue->tail++;
}

void waitqueue_clear(struct waitqueue *waitqueue)
{
	waitqueue->tail = waitqueue->head;
}
