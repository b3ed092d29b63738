/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threadslots.h - hash table of threads by tid, with open addressing.
 *
 * The caller defines the type of the slots, which begins with a struct threadslot, and the meaning of the status. A
 * slot is valid until the next threadslots_get, which may move all slots. The caller marks a thread as ended by its
 * status. The slot of an ended thread remains, because late records must find it, until the table needs space and
 * is_old returns true for the slot.
 */
#ifndef PJ_THREADSLOTS_H
#define PJ_THREADSLOTS_H

#include "common/base.h"

#include <stddef.h>
#include <stdint.h>

struct threadslot {
	uint32_t tid, pid;
	uint8_t status; /* status that the caller defines; 0: the slot is free */
};

struct threadslots {
	char *slot;
	size_t size;       /* size of a slot in bytes */
	size_t mask, used; /* mask: number of slots minus 1. used: number of slots that are not free. */
	/* returns true for a thread that ended so long before time now that its slot is no longer needed */
	bool (*is_old)(const void *slot, uint64_t now);
};

void threadslots_init(struct threadslots *slots, size_t size, bool (*is_old)(const void *slot, uint64_t now));
void threadslots_free(struct threadslots *slots);

/* Returns the slot with index i, from 0 to slots->mask. The slot may be free. */
static inline void *threadslots_at(const struct threadslots *slots, size_t i)
{
	return slots->slot + i * slots->size;
}

/* Returns the slot of a thread; NULL if the table does not have the thread. */
void *threadslots_find(const struct threadslots *slots, uint32_t tid);

/* Returns the slot of a thread, and sets its pid. If the thread is new, adds a slot with this status and zeros in the
 * caller's members, and sets *added to true; otherwise sets it to false. now: current time, passed to is_old. */
void *threadslots_get(struct threadslots *slots, uint32_t pid, uint32_t tid, uint8_t status, uint64_t now, bool *added);

/* Returns the number of bytes of memory of the table. */
size_t threadslots_bytes(const struct threadslots *slots);

#endif
