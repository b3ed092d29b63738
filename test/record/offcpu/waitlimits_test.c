/* Limits for reads of stacks: each class has its own, and what the kernel refuses is not tried again and again. */
/* covers: record/offcpu/waitlimits.c */
#include "record/offcpu/waitlimits.h"
#include "common/arena.h"
#include "common/clocks.h"
#include "test/lib/tap.h"

#include <stdlib.h>

#define MS UINT64_C(1000000)

/* Returns how many of the reads of n bytes in a second, one each 20 us, a class gets. */
static unsigned reads(struct waitlimits *limits, uint8_t class, size_t n, uint64_t from)
{
	unsigned got = 0;

	for (uint64_t now = from; now < from + SECOND_NS; now += 20000)
		got += waitlimits_take(limits, class, n, now);
	return got;
}

static void check_rates(struct waitlimits *limits)
{
	unsigned n = reads(limits, 1, 100, 10 * SECOND_NS);

	ok(n <= WAITLIMITS_CLASS + WAITLIMITS_CLASS / 10 && n > WAITLIMITS_CLASS * 9 / 10, "a class has its reads");
	n = reads(limits, 2, 56 << 10, 20 * SECOND_NS);
	ok(n <= (WAITLIMITS_BYTES + WAITLIMITS_BYTES / 10) / (56 << 10) && n > WAITLIMITS_BYTES / (56 << 10) * 9 / 10,
	   "  and its bytes");
	ok(!waitlimits_take(limits, 2, 56 << 10, 21 * SECOND_NS - 1), "  which are used");
	ok(waitlimits_take(limits, 3, 56 << 10, 21 * SECOND_NS - 1), "  those of another class are not");
	n = 0;
	for (uint64_t now = 30 * SECOND_NS; now < 31 * SECOND_NS; now += 20000)
		for (uint8_t class = 0; class < 4; class ++)
			n += waitlimits_take(limits, class, 8, now);
	ok(n <= WAITLIMITS_READS + WAITLIMITS_READS / 10 && n > WAITLIMITS_READS * 9 / 10, "all together have theirs");
	ok(!waitlimits_take(limits, 4, (size_t)1 << 31, 40 * SECOND_NS), "a read of more bytes than a class ever has");
}

static void check_slow(struct waitlimits *limits)
{
	uint64_t now = 100 * SECOND_NS, blocked = 0;

	unsigned n = 0;

	for (; now < 101 * SECOND_NS; now += MS / 10)
		if (waitlimits_take(limits, 9, 8, now)) {
			waitlimits_charge(limits, 9, 12000, now);
			n++;
		}
	ok(n > WAITLIMITS_CLASS * 9 / 10, "short reads are not limited by their duration");
	n = 0;
	for (; now < 111 * SECOND_NS; now += MS)
		if (waitlimits_take(limits, 11, 8, now)) {
			waitlimits_charge(limits, 11, MS, now + MS);
			n++;
		}
	ok(n > 1200 && n < 1700, "reads of 1 ms have a share of the time");
	for (; now < 200 * SECOND_NS; now += 20 * MS)
		if (waitlimits_take(limits, 9, 8, now)) {
			blocked += 200 * MS;
			now += 200 * MS;
			waitlimits_charge(limits, 9, 200 * MS, now);
		}
	ok(blocked > 8 * SECOND_NS && blocked < 13 * SECOND_NS, "  and those of 200 ms");
	ok(waitlimits_take(limits, 10, 8, now), "  and those of others go on");
	waitlimits_charge(limits, 9, UINT64_MAX, now);
	ok(!waitlimits_take(limits, 9, 8, now + 60 * SECOND_NS), "a long one is paid for long");
	ok(waitlimits_take(limits, 9, 8, now + 300 * SECOND_NS), "  but not forever");
}

static void check_refusals(struct waitlimits *limits)
{
	uint64_t now = 500 * SECOND_NS;

	ok(!waitlimits_refuses(limits, 0, now) && !waitlimits_refuses(limits, 7, now), "nothing was refused");
	waitlimits_note(limits, 7, true, now);
	ok(waitlimits_refuses(limits, 7, now + 9 * SECOND_NS), "a process that may not be read is left alone");
	ok(!waitlimits_refuses(limits, 7 + WAITLIMITS_PIDS, now), "  not one with the same low bits");
	ok(!waitlimits_refuses(limits, 7, now + 10 * SECOND_NS), "  for some time");
	for (uint32_t pid = 100; pid < 100 + WAITLIMITS_VAIN - 2; pid++)
		waitlimits_note(limits, pid, true, now);
	ok(!waitlimits_refuses(limits, 9, now), "others are tried");
	waitlimits_note(limits, 200, true, now);
	ok(waitlimits_refuses(limits, 9, now), "  unless all were in vain");
	now += 20 * SECOND_NS;
	waitlimits_note(limits, 9, false, now);
	for (uint32_t pid = 100; pid < 1000; pid++)
		waitlimits_note(limits, pid, true, now);
	ok(!waitlimits_refuses(limits, 9, now), "once one may be read, refusals of others do not matter");
}

int main(void)
{
	struct waitlimits *limits = mem_alloc(sizeof(*limits), 1);

	check_rates(limits);
	check_slow(limits);
	check_refusals(limits);
	free(limits);
	return done();
}
