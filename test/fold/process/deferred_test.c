/* Samples that wait for their user half: each goes on once, with its own frames and weight. */
/* covers: fold/process/deferred.c */
#include "fold/process/deferred.h"

#include "test/lib/tap.h"

static struct samples s;
static struct deferred d;

static void put(uint32_t tid, uint64_t cookie, uint32_t frame)
{
	const struct sample_key h = { .comm = STR("c"), .first = STR("c"), .event = STR("cycles"), .period = 1 };

	samples_open(&s, &h);
	samples_push(&s, frame);
	deferred_put(&d, &s, tid, cookie, frame);
}

/* The frame that the next one has; 0: there is none. */
static uint32_t end(bool more, uint32_t comm)
{
	uint32_t frame = more ? s.frame[0] : 0;

	if (!more)
		return 0;
	if (s.nframes != 1 || s.sample.state != SAMPLE_OPEN || frame != comm)
		return UINT32_MAX;
	samples_close(&s);
	return frame;
}

static uint32_t take(uint32_t tid, uint64_t cookie)
{
	uint32_t comm = 0;
	bool more = deferred_take(&d, &s, tid, cookie, &comm);

	return end(more, comm);
}

static uint32_t give_up(bool at_end)
{
	uint32_t comm = 0;
	bool more = deferred_give_up(&d, &s, at_end, &comm);

	return end(more, comm);
}

static void test_joins(void)
{
	ok(take(1, 1) == 0 && give_up(true) == 0, "nothing waits");
	put(1, 7, 11);
	put(2, 7, 12);
	put(1, 8, 13);
	put(1, 7, 14);
	ok(take(3, 7) == 0 && take(1, 9) == 0 && take(1, 0) == 0, "another thread, another cookie, none");
	ok(take(1, 7) == 11 && take(1, 7) == 14 && take(1, 7) == 0, "all of a thread's system call, the oldest first");
	ok(give_up(false) == 0, "few wait, so nothing is given up");
	ok(take(1, 8) == 13, "what is between others");
	put(2, 7, 15);
	ok(give_up(true) == 12 && give_up(true) == 15 && give_up(true) == 0, "at the end, in order of age");
	ok(stacks_sum(&s.stacks, 0) == 5, "each was counted once");
}

/* Many threads wait, of which some come: never more than 4096, the oldest leave, none is lost. */
static void test_many(void)
{
	uint64_t before = stacks_sum(&s.stacks, 0), puts = 0, gone = 0, wrong = 0, last = 0;
	uint32_t max = 0, frame;

	for (uint32_t i = 1; i <= 50000; i++) {
		put(i % 97, 1 + i / 3 % 1000, i);
		puts++;
		while ((frame = give_up(false)) != 0) {
			wrong += frame <= last;
			last = frame;
			gone++;
		}
		if (i % 5 == 0)
			while (take(i % 97, 1 + i / 3 % 1000))
				;
		if (i % 11 == 0)
			while (take((i - 1000) % 97, 1 + (i - 1000) / 3 % 1000))
				;
		max = d.n > max ? d.n : max;
	}
	ok(max == 4096 && gone > 1000, "4096 wait at most, the others are given up");
	ok(wrong == 0, "the oldest first");
	while (give_up(true))
		;
	ok(stacks_sum(&s.stacks, 0) - before == puts, "each was counted once");
	put(1, 1, 1);
}

int main(void)
{
	static const struct samples_options o = { .weight = WEIGHT_SAMPLES };

	samples_init(&s, &o);
	test_joins();
	test_many();
	deferred_free(&d); /* with one that waits */
	samples_free(&s);
	return done();
}
