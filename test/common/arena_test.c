/* arena_test - alignment, zeroes, big objects, addresses that stay. */
/* covers: common/arena.c */
/* std: with AddressSanitizer each object is an allocation of its own */
#include "common/arena.h"

#include "test/lib/child.h"
#include "test/lib/tap.h"

#include <stdalign.h>

#ifdef PJ_ASAN
#include <sanitizer/asan_interface.h>
#endif

static void overflow(void *arg)
{
	struct arena a = { 0 };

	(void)arg;
	arena_alloc(&a, SIZE_MAX / 2, 3);
}

#ifndef PJ_ASAN
static void too_big(void *arg)
{
	(void)arg;
	mem_alloc(1, SIZE_MAX / 2);
}
#endif

static void grow_overflow(void *arg)
{
	(void)arg;
	mem_grow(NULL, SIZE_MAX / 2, 3);
}

static bool zeroed(const char *p, size_t n)
{
	while (n--)
		if (*p++)
			return false;
	return true;
}

/* What fails is NULL, and what there was stays as it was. */
static void check_try(void)
{
	uint64_t *p = mem_try_alloc(sizeof(*p), 8);

	ok(p && zeroed((char *)p, 64), "mem_try_alloc: zeroed");
	memset(p, 7, 64);
	ok(!mem_try_grow(p, SIZE_MAX / 2, 3) && p[7] == 0x0707070707070707,
	   "mem_try_grow: a size that overflows is NULL, and p is unchanged");
#ifndef PJ_ASAN
	ok(!mem_try_alloc(1, SIZE_MAX / 2), "mem_try_alloc: no memory is NULL");
	ok(!mem_try_grow(p, 1, SIZE_MAX / 2) && p[7] == 0x0707070707070707,
	   "mem_try_grow: no memory is NULL, and p is unchanged");
	ok(!mem_try_more(p, SIZE_MAX / 32, 8), "mem_try_more: no memory is NULL");
#endif
	ok(mem_try_more(p, 8, 7) == p, "mem_try_more: within a power of two nothing moves");
	p = mem_try_more(p, 8, 8);
	ok(p && p[7] == 0x0707070707070707, "mem_try_more: a larger array has what the smaller one had");
	free(p);
}

int main(void)
{
	static struct child c;
	struct arena a = { 0 };
	bool aligned = true, zero = true, saved = true, helper = true;
	char *objects[5000];
	struct str copies[5000];
	size_t before;

	arena_free(&a);
	is_u64(a.total, 0, "an empty arena can be freed");

	for (size_t i = 0; i < countof(objects); i++) {
		char text[16];

		copies[i] = arena_copy(&a, (struct str){ text, (size_t)snprintf(text, sizeof(text), "%zu", i) });
		objects[i] = arena_alloc(&a, 1, i % 97);
		aligned = aligned && (uintptr_t)objects[i] % alignof(max_align_t) == 0;
		zero = zero && zeroed(objects[i], i % 97);
		memset(objects[i], (int)(i & 0xff), i % 97);
	}
	ok(aligned, "objects between odd strings are aligned for any type");
	ok(zero, "objects are zeroed");
	for (size_t i = 0; i < countof(objects); i++) {
		char text[16];

		snprintf(text, sizeof(text), "%zu", i);
		saved = saved && str_eq(copies[i], str_of(text)) && copies[i].p[copies[i].n] == 0;
		for (size_t k = 0; k < i % 97; k++)
			helper = helper && (unsigned char)objects[i][k] == (i & 0xff);
	}
	ok(saved, "copies stay what they were, with a NUL behind");
	ok(helper, "objects do not overlap");

	before = a.total;
	objects[0] = arena_alloc(&a, 1, 10u << 20);
	ok(zeroed(objects[0], 10u << 20), "an object bigger than any block");
	memset(objects[0], 1, 10u << 20);
	objects[1] = arena_alloc(&a, 1, 1);
	ok(objects[1] < objects[0] || objects[1] >= objects[0] + (10u << 20), "the next one is outside of it");
	ok(a.total >= before + (10u << 20), "the total counts it");

	copies[0] = arena_copy(&a, (struct str){ 0 });
	ok(copies[0].n == 0 && copies[0].p && copies[0].p[0] == 0, "a copy of {0} is an empty C string");
	copies[0] = arena_copy(&a, STR("a\0b"));
	is_str(copies[0], STR("a\0b"), "NUL bytes are copied");
	ok(arena_alloc(&a, 0, 100) != NULL && arena_new(&a, uint64_t, 0) != NULL, "objects of no size");

#ifdef PJ_ASAN
	objects[2] = arena_alloc(&a, 1, 16);
	ok(__asan_address_is_poisoned(objects[2] + 16), "AddressSanitizer sees the end of an object");
#endif
	arena_free(&a);
	ok(a.total == 0 && a.block == NULL, "free leaves an empty arena");
	ok(arena_alloc(&a, 1, 1) != NULL, "which can be used again");
	arena_free(&a);

#ifndef PJ_ASAN
	child_run(&c, too_big, NULL);
	ok(c.status == 1 && str_find_str(c.err, STR("out of memory")) > 0, "no memory: a message and status 1");
#endif
	child_run(&c, overflow, NULL);
	ok(c.status == 1 && str_find_str(c.err, STR("out of memory")) > 0, "a size that overflows is out of memory");
	child_run(&c, grow_overflow, NULL);
	ok(c.status == 1 && str_find_str(c.err, STR("out of memory")) > 0, "in mem_grow, too");
	check_try();
	return done();
}
