/* SPDX-License-Identifier: Apache-2.0 */
#include "common/arena.h"

#include "common/diag.h"

#include <stdlib.h>
#include <sys/mman.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#ifdef PJ_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#define GAP 16
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#define GAP 0
#endif

#define BLOCK_MIN (64 * 1024)
#define BLOCK_MAX (1024 * 1024)
#define ALIGN 16

struct arena_block {
	struct arena_block *next;
	size_t size;
};

static NORETURN void out_of_memory(size_t n)
{
	die("out of memory (%zu bytes more were needed)", n);
}

void mem_keep(void)
{
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_TOP_PAD, 4 << 20);
#endif
}

void mem_give_back(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	mallopt(M_TRIM_THRESHOLD, 1 << 20);
#endif
}

void *mem_alloc(size_t size, size_t count)
{
	void *p = calloc(count ? count : 1, size ? size : 1);

	if (!p)
		out_of_memory(size * count);
	return p;
}

void *mem_grow(void *p, size_t size, size_t count)
{
	size_t n;

	if (__builtin_mul_overflow(size, count, &n))
		out_of_memory(SIZE_MAX);
	p = realloc(p, n ? n : 1);
	if (!p)
		out_of_memory(n);
	return p;
}

void *mem_try_alloc(size_t size, size_t count)
{
	return calloc(count ? count : 1, size ? size : 1);
}

void *mem_try_grow(void *p, size_t size, size_t count)
{
	size_t n;

	if (__builtin_mul_overflow(size, count, &n))
		return NULL;
	return realloc(p, n ? n : 1);
}

void *mem_huge(size_t size)
{
	void *p = aligned_alloc(MEM_HUGE, size);

	if (!p)
		out_of_memory(size);
	madvise(p, size, MADV_HUGEPAGE); /* a wish: without it all is the same, but slower */
	return p;
}

/* A fresh block for at least n bytes. What was left of the block before stays unused. */
static void arena_refill(struct arena *a, size_t n)
{
	size_t size = a->total < BLOCK_MIN ? BLOCK_MIN : a->total < BLOCK_MAX ? a->total : BLOCK_MAX;
	struct arena_block *b;

	if (n > SIZE_MAX / 2)
		out_of_memory(n);
	if (size < n + sizeof(*b) + ALIGN)
		size = n + sizeof(*b) + ALIGN;
	b = calloc(1, size);
	if (!b)
		out_of_memory(size);
	b->next = a->block;
	b->size = size;
	a->block = b;
	a->total += size;
	a->at = (char *)(b + 1);
	a->end = (char *)b + size;
	POISON(a->at, (size_t)(a->end - a->at));
}

static char *arena_take(struct arena *a, size_t n, size_t align)
{
	size_t pad = a->at ? (size_t)(-(uintptr_t)a->at & (align - 1)) : 0;
	char *p;

	if (!a->at || (size_t)(a->end - a->at) < pad + GAP || (size_t)(a->end - a->at) - pad - GAP < n) {
		arena_refill(a, n + GAP);
		pad = (size_t)(-(uintptr_t)a->at & (align - 1));
	}
	p = a->at + pad;
	a->at = p + n + GAP;
	UNPOISON(p, n);
	return p;
}

void *arena_alloc(struct arena *a, size_t size, size_t count)
{
	size_t n;

	if (__builtin_mul_overflow(size, count, &n))
		out_of_memory(SIZE_MAX);
	return arena_take(a, n, ALIGN);
}

struct str arena_copy(struct arena *a, struct str s)
{
	char *p = arena_take(a, s.n + 1, 1);

	if (s.n)
		memcpy(p, s.p, s.n);
	p[s.n] = 0;
	return (struct str){ p, s.n };
}

void arena_free(struct arena *a)
{
	while (a->block) {
		struct arena_block *b = a->block;

		a->block = b->next;
		UNPOISON(b, b->size);
		free(b);
	}
	*a = (struct arena){ 0 };
}
