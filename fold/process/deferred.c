/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/deferred.h"

#include "common/arena.h"
#include "common/hash.h"

#include <stdlib.h>

#define MAXIMUM 4096 /* that wait: threads that are in the kernel, times their samples there */
#define RING (2 * MAXIMUM)

struct deferred_sample {
	struct samples_open sample;
	uint64_t cookie; /* 0: went on */
	uint32_t tid, comm;
	uint32_t next;   /* that came later, in the same queue: place in the ring + 1 */
	uint32_t *frame; /* of the kernel */
	size_t n;
};

/* Places in the ring + 1, or 0. */
struct deferred_queue {
	uint32_t first, last;
};

static struct deferred_queue *queue_of(const struct deferred *d, uint32_t tid, uint64_t cookie)
{
	return &d->queue[hash_pair(cookie, tid) % RING];
}

void deferred_put(struct deferred *d, struct samples *s, uint32_t tid, uint64_t cookie, uint32_t comm)
{
	uint32_t at = (d->oldest + d->n++) % RING;
	struct deferred_queue *q;
	struct deferred_sample *w;

	if (!d->waiting) {
		d->waiting = mem_alloc(sizeof(*d->waiting), RING);
		d->queue = mem_alloc(sizeof(*d->queue), RING);
	}
	w = &d->waiting[at];
	*w = (struct deferred_sample){ .cookie = cookie, .tid = tid, .comm = comm, .n = s->nframes };
	w->frame = mem_alloc(sizeof(*w->frame), w->n);
	if (w->n)
		memcpy(w->frame, s->frame, w->n * sizeof(*w->frame));
	w->sample = samples_suspend(s);
	q = queue_of(d, tid, cookie);
	if (q->first)
		d->waiting[q->last - 1].next = at + 1;
	else
		q->first = at + 1;
	q->last = at + 1;
}

/* Opens w, which is behind before in q (0: its first). */
static void go_on(struct deferred *d, struct samples *s, struct deferred_queue *q, uint32_t before,
		  struct deferred_sample *w, uint32_t *comm)
{
	if (before)
		d->waiting[before - 1].next = w->next;
	else
		q->first = w->next;
	if (!w->next)
		q->last = before;
	samples_resume(s, w->sample);
	for (size_t i = 0; i < w->n; i++)
		samples_push(s, w->frame[i]);
	*comm = w->comm;
	free(w->frame);
	*w = (struct deferred_sample){ 0 };
	while (d->n && d->waiting[d->oldest].cookie == 0) {
		d->oldest = (d->oldest + 1) % RING;
		d->n--;
	}
}

bool deferred_take(struct deferred *d, struct samples *s, uint32_t tid, uint64_t cookie, uint32_t *comm)
{
	struct deferred_queue *q;
	struct deferred_sample *w;

	if (d->n == 0 || cookie == 0)
		return false;
	q = queue_of(d, tid, cookie);
	for (uint32_t before = 0, at = q->first; at; before = at, at = w->next) {
		w = &d->waiting[at - 1];
		if (w->tid != tid || w->cookie != cookie)
			continue;
		go_on(d, s, q, before, w, comm);
		return true;
	}
	return false;
}

bool deferred_give_up(struct deferred *d, struct samples *s, bool at_end, uint32_t *comm)
{
	struct deferred_sample *w;

	if (d->n == 0 || (d->n <= MAXIMUM && !at_end))
		return false;
	w = &d->waiting[d->oldest];
	go_on(d, s, queue_of(d, w->tid, w->cookie), 0, w, comm); /* the oldest of all is the first of its queue */
	return true;
}

void deferred_free(struct deferred *d)
{
	for (uint32_t i = 0; i < d->n; i++)
		free(d->waiting[(d->oldest + i) % RING].frame);
	free(d->waiting);
	free(d->queue);
	*d = (struct deferred){ 0 };
}
