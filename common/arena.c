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
	/* true if the block was allocated zeroed (large objects): arena_alloc does not zero it again, so its unused
	 * pages cost no memory */
	bool zeroed;
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
	madvise(p, size, MADV_HUGEPAGE); /* the error is ignored: without huge pages the buffer is only slower */
	return p;
}

/* Makes a new current block with space for at least n bytes. The rest of the previous block stays unused. */
static void arena_refill(struct arena *arena, size_t n)
{
	size_t size = arena->total < BLOCK_MIN ? BLOCK_MIN : arena->total < BLOCK_MAX ? arena->total : BLOCK_MAX;
	struct arena_block *block;

	if (n > SIZE_MAX / 2)
		out_of_memory(n);
	if (size < n + sizeof(*block) + ALIGN)
		size = n + sizeof(*block) + ALIGN;
	bool zeroed = n > BLOCK_MAX / 2;
	block = zeroed ? calloc(1, size) : malloc(size);
	if (!block)
		out_of_memory(size);
	block->zeroed = zeroed;
	block->next = arena->block;
	block->size = size;
	arena->block = block;
	arena->total += size;
	arena->at = (char *)(block + 1);
	arena->end = (char *)block + size;
	POISON(arena->at, (size_t)(arena->end - arena->at));
}

static char *arena_take(struct arena *arena, size_t n, size_t align)
{
	size_t pad = arena->at ? (size_t)(-(uintptr_t)arena->at & (align - 1)) : 0;
	char *p;

	if (!arena->at || (size_t)(arena->end - arena->at) < pad + GAP ||
	    (size_t)(arena->end - arena->at) - pad - GAP < n) {
		arena_refill(arena, n + GAP);
		pad = (size_t)(-(uintptr_t)arena->at & (align - 1));
	}
	p = arena->at + pad;
	arena->at = p + n + GAP;
	UNPOISON(p, n);
	return p;
}

void *arena_alloc(struct arena *arena, size_t size, size_t count)
{
	size_t n;

	if (__builtin_mul_overflow(size, count, &n))
		out_of_memory(SIZE_MAX);
	void *p = arena_take(arena, n, ALIGN);
	if (!arena->block->zeroed)
		memset(p, 0, n);
	return p;
}

struct str arena_copy(struct arena *arena, struct str string)
{
	char *p = arena_take(arena, string.n + 1, 1);

	if (string.n)
		memcpy(p, string.p, string.n);
	p[string.n] = 0;
	return (struct str){ p, string.n };
}

void arena_free(struct arena *arena)
{
	while (arena->block) {
		struct arena_block *block = arena->block;

		arena->block = block->next;
		UNPOISON(block, block->size);
		free(block);
	}
	*arena = (struct arena){ 0 };
}
