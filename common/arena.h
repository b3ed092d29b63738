/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory that lives until the arena ends.
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
	size_t total; /* bytes taken from the system */
};

#define arena_new(a, T, count) ((T *)arena_alloc((a), sizeof(T), (count)))

void *arena_alloc(struct arena *arena, size_t size, size_t count); /* zeroed, aligned for any type */
struct str arena_copy(struct arena *arena, struct str string);     /* a copy, unaligned, followed by NUL */
void arena_free(struct arena *arena);                              /* everything; the arena is empty again */

/* Keeps freed memory for reuse from now on; call it before threads start. Returning memory to the system interrupts
 * every processor that runs a thread of the process. */
void mem_keep(void);

/* Returns large freed blocks to the system: the opposite of mem_keep, for a tool that needs much memory for a short
 * time. */
void mem_give_back(void);

/* For tables that grow: as malloc and realloc, but they never return NULL. */
void *mem_alloc(size_t size, size_t count);         /* zeroed */
void *mem_grow(void *p, size_t size, size_t count); /* realloc to size * count */

/* Grows an array of n elements by one, as mem_grow. The array moves only if n is a power of two. */
static inline void *mem_more(void *p, size_t size, size_t n)
{
	return n & (n - 1) ? p : mem_grow(p, size, n ? 2 * n : 1);
}

/* For amounts that data of another process determines, in programs that serve several processes (pjrecord, pjmap,
 * pjsend). Return NULL if the memory is not available or the size overflows. The caller then gives up that process
 * alone, and counts it. After a failed mem_try_grow or mem_try_more, p is valid and unchanged: the caller frees it. */
void *mem_try_alloc(size_t size, size_t count); /* zeroed */
void *mem_try_grow(void *p, size_t size, size_t count);

/* As mem_more, but returns NULL on failure. The caller then keeps n as it was. */
static inline void *mem_try_more(void *p, size_t size, size_t n)
{
	return n & (n - 1) ? p : mem_try_grow(p, size, n ? 2 * n : 1);
}

/* Allocates a large buffer with huge pages, for a caller that writes all of it: a page fault costs more than the bytes
 * of a page. The caller calls free. */
#define MEM_HUGE ((size_t)2 << 20)
void *mem_huge(size_t size); /* a multiple of MEM_HUGE; not zeroed */

#endif
