/* Threads off the CPU in the order in which they left it: those that return are out, and memory is bounded. */
/* covers: record/offcpu/waitqueue.c */
#include "record/offcpu/waitqueue.h"
#include "common/arena.h"
#include "test/lib/tap.h"

#include <stdlib.h>

static uint32_t oldest(struct waitqueue *queue)
{
	const struct wait *wait = waitqueue_oldest(queue);

	return wait ? wait->tid : 0;
}

static void check_order(struct waitqueue *queue)
{
	is_u64(oldest(queue), 0, "an empty queue");
	for (uint32_t tid = 1; tid <= 4; tid++)
		waitqueue_out(queue, tid)->time = 100 * (uint64_t)tid;
	is_u64(oldest(queue), 1, "the first to leave the CPU");
	waitqueue_in(queue, 1);
	is_u64(oldest(queue), 2, "without one that is back");
	waitqueue_in(queue, 3);
	waitqueue_in(queue, 3);
	waitqueue_in(queue, 99);
	waitqueue_drop(queue);
	is_u64(oldest(queue), 4, "  nor one behind the first");
	waitqueue_out(queue, 4)->time = 500;
	is_u64(waitqueue_oldest(queue)->time, 500, "a thread that left twice is there once");
	waitqueue_drop(queue);
	is_u64(oldest(queue), 0, "empty again");
	waitqueue_drop(queue);
	waitqueue_out(queue, 5);
	waitqueue_clear(queue);
	is_u64(oldest(queue), 0, "cleared");
	waitqueue_in(queue, 5);
	is_u64(queue->wait[(queue->head - 1) % WAITQUEUE_MAX].tid, 5,
	       "a thread that is not in the queue any more changes nothing");
}

static void check_bound(struct waitqueue *queue)
{
	uint32_t n = 0;

	while (n < 2 * WAITQUEUE_MAX && waitqueue_out(queue, 1000 + n))
		n++;
	is_u64(n, WAITQUEUE_MAX, "it is full at its maximum");
	is_u64(oldest(queue), 1000, "  and keeps the oldest");
	waitqueue_in(queue, 1000);
	ok(waitqueue_out(queue, 1) != NULL, "one that returns gives its place to another one");
	for (uint32_t i = 1; i < WAITQUEUE_MAX; i++)
		waitqueue_drop(queue);
	/* 1000 is dropped by waitqueue_oldest, which waitqueue_out calls */
	is_u64(oldest(queue), 1, "  the last one");
}

int main(void)
{
	struct waitqueue *queue = mem_alloc(sizeof(*queue), 1);

	check_order(queue);
	check_bound(queue);
	free(queue);
	return done();
}
