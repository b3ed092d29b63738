/* starts_test - the outermost frames are those that whole stacks had, or none. */
/* covers: record/unwind/rootframes.c */
#include "record/unwind/rootframes.h"

#include "test/lib/tap.h"

#define MARK UINT64_C(0xfffffffffffffe00)

/* All of libc's, and a program from 20000 on. */
static struct mapped_file libc = { .path = STR("/usr/lib/x86_64-linux-gnu/libc.so.6") },
			  program = { .path = STR("/libc/program") };
static struct process seven = { .pid = 7 }, nine = { .pid = 9 };
static const struct process fp = { .pid = 7 };

static struct rootframes s;

static bool is(uint32_t pid, uint64_t inner, uint64_t first, uint64_t second)
{
	const struct root_frames *found = rootframes_find(&s, pid, inner);

	return found && found->outer[0] == first && found->outer[1] == second;
}

int main(void)
{
	static const uint64_t stack[] = { 1, 2, 3, 4, 5 }, other[] = { 1, 3, 6, 5 }, deeper[] = { 3, 4, 9, 5 },
			      marked[] = { 20, MARK, 21, 22 }, one[] = { 30 };
	static const uint64_t thread[] = { 20001, 20002, 41, 42 }, elsewhere[] = { 20003, 43, 44, 20004 },
			      own[] = { 45, 20005, 46 };
	size_t saved = 0;

	struct mapping_pool pool = { .tenants = NULL };

	mappings_put(&pool, &seven.maps, &seven.tenant, &(struct mapping){ .length = 20000 }, &libc);
	mappings_put(&pool, &seven.maps, &seven.tenant, &(struct mapping){ .start = 20000, .length = 1000 }, &program);
	nine.maps = seven.maps;
	ok(!rootframes_find(&s, 7, 4) && !rootframes_find(&s, 0, 0), "nothing is known");
	rootframes_learn(&s, &seven, stack, countof(stack));
	ok(is(7, 4, 5, 0) && is(7, 3, 4, 5), "what is outside of the two last callers");
	ok(!rootframes_find(&s, 7, 2) && !rootframes_find(&s, 7, 5) && !rootframes_find(&s, 8, 4),
	   "not of others, nor of other processes");
	rootframes_learn(&s, &seven, stack, countof(stack));
	ok(is(7, 3, 4, 5), "again the same");
	rootframes_learn(&s, &seven, other, countof(other));
	ok(is(7, 6, 5, 0) && !rootframes_find(&s, 7, 3) && is(7, 4, 5, 0), "two that differ: nothing is said");
	rootframes_learn(&s, &seven, stack, countof(stack));
	ok(!rootframes_find(&s, 7, 3), "  ever after");
	rootframes_learn(&s, &seven, deeper, countof(deeper));
	ok(!rootframes_find(&s, 7, 4), "also where one is longer");
	rootframes_learn(&s, &seven, marked, countof(marked));
	ok(is(7, 21, 22, 0) && !rootframes_find(&s, 7, MARK) && !rootframes_find(&s, 7, 20), "marks are no callers");
	rootframes_learn(&s, &seven, thread, countof(thread));
	ok(is(7, 41, 42, 0) && !rootframes_find(&s, 7, 20002), "what a thread calls is called by others, too");
	rootframes_learn(&s, &seven, elsewhere, countof(elsewhere));
	ok(is(7, 44, 20004, 0) && is(7, 43, 44, 20004), "the program's start is outside of libc's");
	rootframes_learn(&s, &seven, own, countof(own));
	ok(!rootframes_find(&s, 7, 20005) && !rootframes_find(&s, 7, 45), "a program that has all in itself");
	rootframes_learn(&s, NULL, stack, countof(stack));
	rootframes_learn(&s, &fp, (uint64_t[]){ 51, 52, 53 }, 3);
	ok(!rootframes_find(&s, 7, 52), "a process of which nothing is known");
	rootframes_learn(&s, &seven, one, countof(one));
	rootframes_learn(&s, &seven, one, 0);
	for (uint64_t i = 0; i < 10000; i++)
		rootframes_learn(&s, &nine, (uint64_t[]){ 100 + i, 5 }, 2);
	for (uint64_t i = 0; i < 10000; i++)
		saved += is(9, 100 + i, 5, 0);
	ok(saved > ROOTFRAMES_SLOTS / 4 && saved <= ROOTFRAMES_SLOTS, "memory is bounded");
	mappings_drop(&pool, &seven.maps);
	mappings_pool_free(&pool);
	return done();
}
