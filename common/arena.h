/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory that is freed all at once, with the arena.
 *
 * Objects never move and are never freed one by one. No function fails: if memory is not available the
 * tool ends with a message, except in the functions called mem_try_*. Under AddressSanitizer there are poisoned gaps
 * between objects.
 */
#ifndef PJ_ARENA_H
#define PJ_ARENA_H

#include "common/str.h"

struct arena {
	struct arena_block *block;
	char *at;
	char *end;
	size_t total; /* bytes that the arena has taken from the system */
};

#define arena_new(a, T, count) ((T *)arena_alloc((a), sizeof(T), (count)))

/* Allocates an array of count objects of `size` bytes: zeroed, aligned for any type. */
void *arena_alloc(struct arena *arena, size_t size, size_t count);
/* Copies string into the arena, unaligned and followed by NUL. Returns the copy. */
struct str arena_copy(struct arena *arena, struct str string);
/* Frees all objects of the arena, which is empty afterwards. */
void arena_free(struct arena *arena);

/* From now on, malloc keeps freed memory of the process for reuse. Call this before threads start. Reason: returning
 * memory to the system interrupts every processor that runs a thread of the process. */
void mem_keep(void);

/* From now on, malloc returns large freed blocks to the system: the opposite of mem_keep, for a tool that needs much
 * memory for a short time. */
void mem_give_back(void);

/* Like calloc and realloc, for tables that grow. If memory is not available, they end the tool instead of returning
 * NULL. */
void *mem_alloc(size_t size, size_t count); /* zeroed memory for count objects of `size` bytes */
/* Resizes p to count objects of `size` bytes; the new ones are not zeroed. */
void *mem_grow(void *p, size_t size, size_t count);

/* Makes space for one more element in an array of n elements that grew by this function alone. The array moves only if
 * n is 0 or a power of two. */
static inline void *mem_more(void *p, size_t size, size_t n)
{
	return n & (n - 1) ? p : mem_grow(p, size, n ? 2 * n : 1);
}

/* Like mem_alloc and mem_grow, for amounts that data of another process determines, in programs that serve several
 * processes (pjrecord, pjmap, pjsend). They return NULL if the memory is not available or the size overflows. The
 * caller then gives up that process alone, and counts it. After a failed mem_try_grow or mem_try_more, p is valid and
 * unchanged: the caller frees it. */
void *mem_try_alloc(size_t size, size_t count); /* zeroed */
void *mem_try_grow(void *p, size_t size, size_t count);

/* Like mem_more, but returns NULL on failure. The caller then keeps n unchanged. */
static inline void *mem_try_more(void *p, size_t size, size_t n)
{
	return n & (n - 1) ? p : mem_try_grow(p, size, n ? 2 * n : 1);
}

/* Allocates a large buffer with huge pages, for a caller that writes all of it: a page fault costs more than the bytes
 * of a page. The caller calls free. */
#define MEM_HUGE ((size_t)2 << 20)
/* size: a multiple of MEM_HUGE. The memory is not zeroed. */
void *mem_huge(size_t size);

#endif
