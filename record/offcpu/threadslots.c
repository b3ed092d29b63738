/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/threadslots.h"

#include "common/arena.h"
#include "common/hash.h"

#include <stdlib.h>
#include <string.h>

void threadslots_init(struct threadslots *slots, size_t size, bool (*is_old)(const void *slot, uint64_t now))
{
	*slots = (struct threadslots){ .size = size, .mask = 255, .is_old = is_old };
	slots->slot = mem_alloc(size, slots->mask + 1);
}

void threadslots_free(struct threadslots *slots)
{
	free(slots->slot);
	slots->slot = NULL;
}

/* Returns the slot of a thread; if the table lacks the thread, the free slot in which it belongs. */
static struct threadslot *threadslots_place(const struct threadslots *slots, uint32_t tid)
{
	size_t i = (size_t)hash_mix(tid, 0x9E3779B97F4A7C15u) & slots->mask;
	struct threadslot *thread;

	while ((thread = threadslots_at(slots, i))->status && thread->tid != tid)
		i = (i + 1) & slots->mask;
	return thread;
}

void *threadslots_find(const struct threadslots *slots, uint32_t tid)
{
	struct threadslot *thread = threadslots_place(slots, tid);

	return thread->status ? thread : NULL;
}

/* Rebuilds the table without old threads (is_old at time now). Doubles its size if more than 3/8 of the slots remain
 * used. */
static void threadslots_rebuild(struct threadslots *slots, uint64_t now)
{
	const struct threadslots old = *slots;
	size_t n = old.mask + 1;

	slots->used = 0;
	for (size_t i = 0; i < n; i++) {
		struct threadslot *thread = threadslots_at(&old, i);

		if (thread->status && slots->is_old(thread, now))
			thread->status = 0;
		slots->used += thread->status != 0;
	}
	if (slots->used > 3 * n / 8)
		slots->mask = 2 * n - 1;
	slots->slot = mem_alloc(slots->size, slots->mask + 1);
	for (size_t i = 0; i < n; i++) {
		const struct threadslot *thread = threadslots_at(&old, i);

		if (thread->status)
			memcpy(threadslots_place(slots, thread->tid), thread, slots->size);
	}
	free(old.slot);
}

void *threadslots_get(struct threadslots *slots, uint32_t pid, uint32_t tid, uint8_t status, uint64_t now, bool *added)
{
	struct threadslot *thread = threadslots_place(slots, tid);

	*added = !thread->status;
	if (*added && 2 * (slots->used + 1) > slots->mask) {
		threadslots_rebuild(slots, now);
		thread = threadslots_place(slots, tid);
	}
	if (*added) {
		memset(thread, 0, slots->size);
		thread->tid = tid;
		thread->status = status;
		slots->used++;
	}
	thread->pid = pid;
	return thread;
}

size_t threadslots_bytes(const struct threadslots *slots)
{
	return (slots->mask + 1) * slots->size;
}
