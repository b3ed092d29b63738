/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - an allocator whose objects are all freed together.
 *
 * Objects never move, and are not freed one by one. If memory is not available, these functions end the tool with a
 * message; only mem_try_* return NULL. Under AddressSanitizer there are poisoned gaps between objects.
 */
#ifndef PJ_ARENA_H
#define PJ_ARENA_H

#include "common/str.h"

struct arena {
	struct arena_block *block;
	char *at;
	char *end;
	size_t total; /* sum of the sizes of all blocks of the arena, in bytes */
};

#define arena_new(a, T, count) ((T *)arena_alloc((a), sizeof(T), (count)))

/* Allocates an array of count objects of `size` bytes: zeroed, aligned for any type. */
void *arena_alloc(struct arena *arena, size_t size, size_t count);
/* Returns a copy of string in the arena, unaligned and followed by NUL. */
struct str arena_copy(struct arena *arena, struct str string);
/* Frees all objects of the arena. The arena is empty afterwards and can be used again. */
void arena_free(struct arena *arena);

/* Makes malloc keep freed memory for reuse from now on, because returning memory to the system interrupts every
 * processor that runs a thread of the process. Must be called before threads start. */
void mem_keep(void);

/* Makes malloc return large freed blocks to the system from now on: the opposite of mem_keep, for a tool that needs
 * much memory for a short time. */
void mem_give_back(void);

/* mem_alloc and mem_grow are calloc and realloc that end the tool if memory is not available, instead of returning
 * NULL. */
void *mem_alloc(size_t size, size_t count); /* returns zeroed memory for count objects of `size` bytes */
/* Resizes the array p to count objects of `size` bytes and returns it; added objects are not zeroed. */
void *mem_grow(void *p, size_t size, size_t count);

/* Makes space for one more element in p, an array of n elements of `size` bytes that only this function has allocated.
 * Returns the array, which moves only if n is 0 or a power of two. Ends the tool if memory is not available. */
static inline void *mem_more(void *p, size_t size, size_t n)
{
	return n & (n - 1) ? p : mem_grow(p, size, n ? 2 * n : 1);
}

/* mem_try_alloc and mem_try_grow are mem_alloc and mem_grow that return NULL if the memory is not available or the size
 * overflows. They are for programs that serve several processes (pjrecord, pjmap, pjsend) and for sizes that data of
 * another process determines. On NULL the caller gives up the work for that process alone, and counts this. After a
 * failed mem_try_grow or mem_try_more, p is unchanged, and the caller frees it. */
void *mem_try_alloc(size_t size, size_t count); /* returns zeroed memory, or NULL */
void *mem_try_grow(void *p, size_t size, size_t count);

/* Like mem_more, but returns NULL on failure; then the array still has n elements. */
static inline void *mem_try_more(void *p, size_t size, size_t n)
{
	return n & (n - 1) ? p : mem_try_grow(p, size, n ? 2 * n : 1);
}

/* Size of a huge page in bytes. */
#define MEM_HUGE ((size_t)2 << 20)
/* Allocates a buffer of huge pages for a caller that writes all of it: page faults of small pages would cost more time
 * than the writes. size is a multiple of MEM_HUGE. The memory is not zeroed; the caller frees it with free(). */
void *mem_huge(size_t size);

#endif
