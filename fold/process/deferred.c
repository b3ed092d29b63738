/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/deferred.h"

#include "common/arena.h"
#include "common/hash.h"

#include <stdlib.h>

/* Maximum number of ring entries in use; above it, deferred_give_up() continues the oldest sample without a user part.
 * The need is the number of threads that are in the kernel, times the number of samples of each since it entered. */
#define MAXIMUM 4096
/* Number of entries of the ring; also the number of queues in the hash table. */
#define RING (2 * MAXIMUM)

struct deferred_sample {
	struct samples_open sample;
	uint64_t cookie; /* cookie of the user part; 0: the ring entry is free */
	uint32_t tid, comm;
	uint32_t next;   /* 1 + ring index of the next sample in the same queue; 0: none */
	uint32_t *frame; /* n kernel frames, leaf first */
	size_t n;
};

/* Queue of waiting samples with equal hashes of thread and cookie. first and last: 1 + ring index of its first and last
 * sample; 0: the queue is empty. */
struct deferred_queue {
	uint32_t first, last;
};

static struct deferred_queue *queue_of(const struct deferred *deferred, uint32_t tid, uint64_t cookie)
{
	return &deferred->queue[hash_pair(cookie, tid) % RING];
}

void deferred_put(struct deferred *deferred, struct samples *samples, uint32_t tid, uint64_t cookie, uint32_t comm)
{
	uint32_t at = (deferred->oldest + deferred->n++) % RING;
	struct deferred_queue *queue;
	struct deferred_sample *sample;

	if (!deferred->waiting) {
		deferred->waiting = mem_alloc(sizeof(*deferred->waiting), RING);
		deferred->queue = mem_alloc(sizeof(*deferred->queue), RING);
	}
	sample = &deferred->waiting[at];
	*sample = (struct deferred_sample){ .cookie = cookie, .tid = tid, .comm = comm, .n = samples->nframes };
	sample->frame = mem_alloc(sizeof(*sample->frame), sample->n);
	if (sample->n)
		memcpy(sample->frame, samples->frame, sample->n * sizeof(*sample->frame));
	sample->sample = samples_suspend(samples);
	queue = queue_of(deferred, tid, cookie);
	if (queue->first)
		deferred->waiting[queue->last - 1].next = at + 1;
	else
		queue->first = at + 1;
	queue->last = at + 1;
}

/* Reopens *sample, pushes its kernel frames, sets *comm, and removes the sample from its queue and the ring. before: 1
 * + ring index of the sample before it in the queue; 0 if *sample is the first. */
static void go_on(struct deferred *deferred, struct samples *samples, struct deferred_queue *queue, uint32_t before,
		  struct deferred_sample *sample, uint32_t *comm)
{
	if (before)
		deferred->waiting[before - 1].next = sample->next;
	else
		queue->first = sample->next;
	if (!sample->next)
		queue->last = before;
	samples_resume(samples, sample->sample);
	for (size_t i = 0; i < sample->n; i++)
		samples_push(samples, sample->frame[i]);
	*comm = sample->comm;
	free(sample->frame);
	*sample = (struct deferred_sample){ 0 };
	while (deferred->n && deferred->waiting[deferred->oldest].cookie == 0) {
		deferred->oldest = (deferred->oldest + 1) % RING;
		deferred->n--;
	}
}

bool deferred_take(struct deferred *deferred, struct samples *samples, uint32_t tid, uint64_t cookie, uint32_t *comm)
{
	struct deferred_queue *queue;
	struct deferred_sample *sample;

	if (deferred->n == 0 || cookie == 0)
		return false;
	queue = queue_of(deferred, tid, cookie);
	for (uint32_t before = 0, at = queue->first; at; before = at, at = sample->next) {
		sample = &deferred->waiting[at - 1];
		if (sample->tid != tid || sample->cookie != cookie)
			continue;
		go_on(deferred, samples, queue, before, sample, comm);
		return true;
	}
	return false;
}

bool deferred_give_up(struct deferred *deferred, struct samples *samples, bool at_end, uint32_t *comm)
{
	struct deferred_sample *sample;

	if (deferred->n == 0 || (deferred->n <= MAXIMUM && !at_end))
		return false;
	sample = &deferred->waiting[deferred->oldest];
	go_on(deferred, samples, queue_of(deferred, sample->tid, sample->cookie), 0, sample,
	      comm); /* before is 0: the oldest of all samples is also the oldest of its queue */
	return true;
}

void deferred_free(struct deferred *deferred)
{
	for (uint32_t i = 0; i < deferred->n; i++)
		free(deferred->waiting[(deferred->oldest + i) % RING].frame);
	free(deferred->waiting);
	free(deferred->queue);
	*deferred = (struct deferred){ 0 };
}
