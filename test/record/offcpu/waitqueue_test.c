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

/* Adds a thread that left the CPU. Returns false if the queue is full. */
static bool leaves(struct waitqueue *queue, uint32_t tid, uint64_t time, uint8_t class)
{
	return waitqueue_out(queue, &(struct wait){ .tid = tid, .time = time, .class = class });
}

static void check_order(struct waitqueue *queue)
{
	is_u64(oldest(queue), 0, "an empty queue");
	for (uint32_t tid = 1; tid <= 4; tid++)
		leaves(queue, tid, 100 * (uint64_t)tid, 1);
	is_u64(oldest(queue), 1, "the first to leave the CPU");
	waitqueue_in(queue, 1);
	is_u64(oldest(queue), 2, "without one that is back");
	waitqueue_in(queue, 3);
	waitqueue_in(queue, 3);
	waitqueue_in(queue, 99);
	waitqueue_drop(queue);
	is_u64(oldest(queue), 4, "  nor one behind the first");
	leaves(queue, 4, 500, 1);
	is_u64(waitqueue_oldest(queue)->time, 500, "a thread that left twice is there once");
	waitqueue_drop(queue);
	is_u64(oldest(queue), 0, "empty again");
	waitqueue_drop(queue);
	leaves(queue, 5, 600, 1);
	waitqueue_drop(queue);
	waitqueue_in(queue, 5);
	is_u64(queue->wait[(queue->head - 1) % WAITQUEUE_MAX].tid, 5,
	       "a thread that is not in the queue any more changes nothing");
	is_u64(queue->queued[1], 0, "no entry is counted");
}

static void check_bound(struct waitqueue *queue)
{
	uint32_t n = 0;

	while (n < 2 * WAITQUEUE_MAX && leaves(queue, 1000 + n, 1, (uint8_t)(n % 3)))
		n++;
	is_u64(n, WAITQUEUE_MAX, "it is full at its maximum");
	is_u64(oldest(queue), 1000, "  and keeps the oldest");
	waitqueue_in(queue, 1000);
	ok(leaves(queue, 1, 1, 0), "one that returns gives its place to another one");
	for (uint32_t i = 1; i < WAITQUEUE_MAX; i++)
		waitqueue_drop(queue);
	/* 1000 is dropped by waitqueue_oldest, which waitqueue_out calls */
	is_u64(oldest(queue), 1, "  the last one");
}

/* One class cannot fill the queue, also by threads that return at once. */
static void check_classes(struct waitqueue *queue)
{
	uint32_t n = 0;

	while (waitqueue_oldest(queue))
		waitqueue_drop(queue);
	leaves(queue, 9, 1, 2);
	for (uint32_t tid = 1000; tid < 1000 + 2 * WAITQUEUE_MAX; tid++) {
		n += leaves(queue, tid, 1, 1);
		waitqueue_in(queue, tid);
	}
	is_u64(n, WAITQUEUE_MAX / 2, "a class has half of the queue at most");
	ok(leaves(queue, 10, 1, 2), "  and another one finds space");
	is_u64(oldest(queue), 9, "  in order");
	waitqueue_drop(queue);
	is_u64(oldest(queue), 10, "  after those that are back");
	is_u64(queue->queued[1], 0, "  which give their space back");
}

int main(void)
{
	struct waitqueue *queue = mem_alloc(sizeof(*queue), 1);

	check_order(queue);
	check_bound(queue);
	check_classes(queue);
	free(queue);
	return done();
}
