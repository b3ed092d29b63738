/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory that lives until the arena ends.
 *
 * Objects never move and are never freed one by one. There is no failure to check: memory that cannot be had ends the
 * tool with a message, except in the functions called mem_try_*. Under AddressSanitizer there are poisoned gaps between
 * objects.
 */
#ifndef PJ_ARENA_H
#define PJ_ARENA_H

#include "common/str.h"

struct arena {
	struct arena_block *block;
	char *at;
	char *end;
	size_t total; /* bytes taken from the system */
};

#define arena_new(a, T, count) ((T *)arena_alloc((a), sizeof(T), (count)))

void *arena_alloc(struct arena *arena, size_t size, size_t count); /* zeroed, aligned for any type */
struct str arena_copy(struct arena *arena, struct str string);     /* a copy, unaligned, followed by NUL */
void arena_free(struct arena *arena);                              /* everything; the arena is empty again */

/* To be called before threads start. From then on freed memory stays for reuse: giving it back to the system
 * makes it interrupt every processor that runs a thread of ours. */
void mem_keep(void);

/* The opposite, for a tool that needs much memory for a moment: large blocks go back to the system when they are freed.
 */
void mem_give_back(void);

/* For the few tables that grow: as malloc and realloc, but they never return NULL. */
void *mem_alloc(size_t size, size_t count);         /* zeroed */
void *mem_grow(void *p, size_t size, size_t count); /* realloc to size * count */

/* The same for an array of n that gets one more: moved only when n is a power of two. */
static inline void *mem_more(void *p, size_t size, size_t n)
{
	return n & (n - 1) ? p : mem_grow(p, size, n ? 2 * n : 1);
}

/* For amounts that the data of another process determines, in programs that serve more than that process (pjrecord,
 * pjmap, pjsend): NULL if the memory is not available or the size overflows. The caller then gives up that process
 * alone, and counts it. After a failed mem_try_grow or mem_try_more, p is valid and unchanged: it still has to be
 * freed. */
void *mem_try_alloc(size_t size, size_t count); /* zeroed */
void *mem_try_grow(void *p, size_t size, size_t count);

/* mem_more that may fail. The caller keeps n as it was if this returns NULL. */
static inline void *mem_try_more(void *p, size_t size, size_t n)
{
	return n & (n - 1) ? p : mem_try_grow(p, size, n ? 2 * n : 1);
}

/* For large buffers that are written completely: requests huge pages, as a fault costs more than a page's bytes. To be
 * freed with free. */
#define MEM_HUGE ((size_t)2 << 20)
void *mem_huge(size_t size); /* a multiple of MEM_HUGE; not zeroed */

#endif
