/* budget_test.c - what one JVM may cost: steps, bytes, time, and a flag that ends everything. */
/* covers: runtimes/memory/readbudget.c runtimes/memory/memory.c */
#include "test/lib/tap.h"

#include "common/clocks.h"
#include "runtimes/memory/memory.h"

static void test_limits(void)
{
	struct readbudget b = { .steps = 10, .bytes = 100 };

	ok(budget_steps(NULL, UINT64_MAX) && readbudget_bytes(NULL, UINT64_MAX), "no budget: no limit");
	ok(budget_steps(&b, 10) && !b.over, "all steps may be taken");
	ok(!budget_steps(&b, 1) && b.over == READBUDGET_STEPS, "one more exceeds them");
	ok(!budget_steps(&b, 0) && !readbudget_bytes(&b, 1) && !readbudget_check(&b), "it stays exceeded");
	b = (struct readbudget){ .steps = 10, .bytes = 100 };
	ok(readbudget_bytes(&b, 60) && !b.over, "some bytes");
	readbudget_return(&b, 60);
	ok(readbudget_bytes(&b, 100), "bytes that were given back may be taken again");
	ok(!readbudget_bytes(&b, 1) && b.over == READBUDGET_BYTES && !budget_steps(&b, 1), "one more exceeds all");
}

static void test_ends(void)
{
	static volatile sig_atomic_t stop;
	struct readbudget b = { .steps = UINT64_MAX, .deadline = clock_now() + 3600 * SECOND_NS, .stop = &stop };
	unsigned taken = 0;

	for (unsigned i = 0; i < 10000; i++)
		taken += budget_steps(&b, 1);
	is_u64(taken, 10000, "a deadline in an hour, nothing asks to end");
	stop = 1;
	for (taken = 0; taken < 10000 && budget_steps(&b, 1); taken++)
		;
	ok(taken <= 4096 && b.over == READBUDGET_STOPPED, "the flag ends it within 4,096 steps");
	b = (struct readbudget){ .steps = UINT64_MAX, .deadline = clock_now() - 1 };
	ok(!budget_steps(&b, 1u << 20) && b.over == READBUDGET_TIME, "a deadline that has passed ends it");
}

static void test_reads(void)
{
	static char bytes[8192] = "text";
	const struct memory_part blob = { 0x10000, sizeof(bytes), bytes };
	struct readbudget b = { .steps = 120 };
	struct memory_want want[2] = { { 0x10000, 8, 0 }, { 0x11000, 8, 8 } };
	char to[8192];
	unsigned reads = 0;
	struct memory m;

	memory_image(&m, &blob, 1);
	m.budget = &b;
	m.probe = 0x10000;
	ok(memory_string(&m, 0x10000, to, 16) && memory_gather(&m, want, 2, to), "reads within the budget");
	while (reads < 1000 && memory_read(&m, 0x10000, to, 8))
		reads++;
	ok(reads > 10 && reads < 100 && b.over == READBUDGET_STEPS, "reads from the cache take steps, too");
	ok(!memory_read(&m, 0x11000, to, 8) && !memory_bulk(&m, 0x10000, to, 8) && !memory_gather(&m, want, 2, to) &&
		   !memory_string(&m, 0x10000, to, 16),
	   "exceeded: nothing can be read");
	b = (struct readbudget){ .steps = 100 };
	ok(memory_read(&m, 0x11000, to, 8), "filled again: it can");
	b.steps = 20;
	ok(!memory_bulk(&m, 0x10000, to, sizeof(to)) && b.over == READBUDGET_STEPS, "many bytes are many steps");
	memory_close(&m);
}

int main(void)
{
	test_limits();
	test_ends();
	test_reads();
	return done();
}
