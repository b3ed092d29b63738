/* Copies of stacks in memory that two processes share: in order, bounded, and no size from there is trusted. */
/* covers: record/offcpu/waitshare.c */
#include "record/offcpu/waitshare.h"
#include "test/lib/tap.h"

#include <string.h>

/* Writes a copy of n bytes, each of which is the low byte of tid. Returns false if the ring is full. */
static bool put(struct waitshare *share, uint32_t tid, size_t n)
{
	struct waitcopy *copy = waitshare_begin(share, n);

	if (!copy)
		return false;
	*copy = (struct waitcopy){ .n = (uint32_t)n, .wait = { .tid = tid } };
	memset(copy + 1, (int)tid, n);
	waitshare_publish(share, copy);
	return true;
}

/* Takes all copies, which have ascending tids from *next on. Returns false if one is wrong. */
static bool take(struct waitshare *share, uint64_t *at, uint32_t *next)
{
	bool broken = false, good = true;
	struct waitcopy copy;
	const char *stack;

	while (waitshare_next(share, at, &copy, &stack, &broken)) {
		good = good && copy.wait.tid == *next;
		for (size_t i = 0; i < copy.n; i++)
			good = good && (unsigned char)stack[i] == (*next & 255);
		++*next;
	}
	return good && !broken;
}

static void check_ring(struct waitshare *share)
{
	uint32_t written = 1, next = 1;
	uint64_t at = 0;
	bool good = true;

	/* sizes that end at each place near the end of the ring; n is 0, too */
	for (unsigned round = 0; round < 300 && good; round++) {
		for (unsigned i = 0; i < 20; i++)
			written += put(share, written, (size_t)(written * 2654435761u % WAITSHARE_STACK));
		good = take(share, &at, &next) && next == written;
		waitshare_drop(share, at);
	}
	ok(good, "copies in order, whole, also around the end of the ring");
	ok(at > 20 * WAITSHARE_BYTES, "  which was reached many times");
	is_u64(waitshare_level(share), 0, "  and is empty then");
	while (put(share, written, WAITSHARE_STACK))
		written++;
	ok(waitshare_level(share) > 950, "a full ring refuses");
	ok(take(share, &at, &next) && next == written, "  and keeps what it has");
	ok(!put(share, written, WAITSHARE_STACK), "  until the space is given back");
	waitshare_drop(share, at);
	ok(put(share, written, WAITSHARE_STACK) && take(share, &at, &next), "  then it takes more");
	waitshare_drop(share, at);
}

/* Heads that the other process did not write as it should. */
static void check_hostile(struct waitshare *share)
{
	static const struct waitcopy bad[] = {
		{ .size = 0, .wait = { .tid = 1 } },
		{ .size = 8, .wait = { .tid = 1 } },
		{ .size = sizeof(struct waitcopy) + 4, .wait = { .tid = 1 } },
		{ .size = sizeof(struct waitcopy), .n = 1, .wait = { .tid = 1 } },
		{ .size = sizeof(struct waitcopy) + 64, .n = UINT32_MAX, .wait = { .tid = 1 } },
		{ .size = UINT32_MAX & ~7u, .wait = { .tid = 1 } },
		{ .size = sizeof(struct waitcopy) + 64,
		  .n = 64,
		  .wait = { .tid = 1, .nregisters = WAIT_REGISTERS + 1 } },
	};

	for (size_t i = 0; i < countof(bad); i++) {
		uint64_t at = 0;
		struct waitcopy copy;
		const char *stack;
		bool broken = false;

		share->tail = 0;
		share->head = sizeof(struct waitcopy) + 64;
		memcpy(share->bytes, &bad[i], sizeof(bad[i]));
		ok(!waitshare_next(share, &at, &copy, &stack, &broken) && broken && at == 0,
		   "a malformed head is found");
	}
	share->head = share->tail = 0;
}

static void check_tops(struct waitshare *share)
{
	is_u64(waitshare_wanted(share, 7, 0x7000), WAITSHARE_FIRST, "an unknown stack");
	waitshare_learn(share, 7, 0x7000, 0x800);
	ok(waitshare_wanted(share, 7, 0x7000) >= 0x800 && waitshare_wanted(share, 7, 0x7000) < 0xa00,
	   "a known one: up to its root frame");
	ok(waitshare_wanted(share, 7, 0x6000) >= 0x1800 && waitshare_wanted(share, 7, 0x6000) < 0x1a00,
	   "  from another sp, too");
	is_u64(waitshare_wanted(share, 8, 0x7000), WAITSHARE_FIRST, "  of this thread only");
	is_u64(waitshare_wanted(share, 7, 0x7900), WAITSHARE_FIRST, "  and not above its root frame");
	waitshare_learn(share, 7, 0x7000, SIZE_MAX);
	is_u64(waitshare_wanted(share, 7, 0x7000), WAITSHARE_STACK, "a stack that goes on above its copy");
	waitshare_learn(share, 9, UINT64_MAX - 100, SIZE_MAX);
	is_u64(waitshare_wanted(share, 9, UINT64_MAX - 100), WAITSHARE_FIRST, "an sp near the end of memory");
}

static void check_classes_of(struct waitshare *share)
{
	const uint32_t pid = 70000, twin = 70000 + WAITSHARE_PIDS;

	is_u64(waitshare_class(share, pid), 0, "the class of an unknown process");
	is_u64(waitshare_class(share, 0), 0, "  and of pid 0");
	waitshare_set_class(share, pid, 255);
	is_u64(waitshare_class(share, pid), 255, "  of a known one");
	is_u64(waitshare_class(share, twin), 0, "a process with the same low bits has not its class");
	waitshare_set_class(share, twin, 0);
	is_u64(waitshare_class(share, pid), 255, "  and does not end it");
	waitshare_set_class(share, twin, 3);
	is_u64(waitshare_class(share, pid), 0, "  but takes its place");
	is_u64(waitshare_class(share, twin), 3, "  with its own class");
	waitshare_set_class(share, twin, 4);
	is_u64(waitshare_class(share, twin), 4, "a class changes");
	waitshare_set_class(share, twin, 0);
	is_u64(waitshare_class(share, twin), 0, "a process that ended");
	waitshare_set_class(share, UINT32_C(1) << 24, 9);
	is_u64(waitshare_class(share, UINT32_C(1) << 24), 0, "a pid beyond those of Linux");
}

int main(void)
{
	struct waitshare *share = waitshare_new();

	if (!ok(share != NULL, "memory"))
		return done();
	check_ring(share);
	check_hostile(share);
	check_tops(share);
	check_classes_of(share);
	waitshare_free(share);
	waitshare_free(NULL);
	return done();
}
