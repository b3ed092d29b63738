/* SPDX-License-Identifier: Apache-2.0 */
/* overtimes_test.c - times off the CPU over budget are summed by thread: no ns is lost, however many threads, and rows
 * are bounded. */
/* covers: record/offcpu/overtimes.c */
#include "record/offcpu/overtimes.h"

#include "test/lib/tap.h"

static const struct tenant one = { TENANT_USER, 1000 };

struct sums {
	uint64_t n, ns, last_time, of_pid_7, unordered;
};

static void count(void *to, const struct ring_sample *sample)
{
	struct sums *s = to;

	s->n++;
	s->ns += sample->period;
	s->unordered += sample->time < s->last_time;
	s->last_time = sample->time;
	s->of_pid_7 += sample->pid == 7 ? sample->period : 0;
}

static bool add(struct overtimes *overtimes, struct tenant tenant, uint32_t pid, uint32_t tid, uint64_t event,
		uint64_t cgroup, uint64_t time)
{
	struct ring_sample r = { .head = { .type = RECORD_SAMPLE, .size = sizeof(r) },
				 .event = event,
				 .pid = pid,
				 .tid = tid,
				 .time = time,
				 .period = 10,
				 .nips = 0 };

	return overtimes_add(overtimes, tenant, &r, cgroup);
}

static struct sums take(struct overtimes *overtimes)
{
	struct sums s = { 0 };

	overtimes_take(overtimes, count, &s);
	return s;
}

struct event_counts {
	uint64_t other, last;
};

static void count_event(void *to, const struct ring_sample *sample)
{
	struct event_counts *counts = to;

	*(sample->event == 4 ? &counts->last : &counts->other) += sample->period;
}

int main(void)
{
	struct event_counts counts = { 0 };
	struct overtimes *o = overtimes_new();
	struct sums s;
	uint64_t sum = 0, taken = 0, rows = 0, t = 0;

	for (unsigned i = 0; i < 1000000; i++)
		add(o, one, 7, 8, 2, 5, ++t);
	s = take(o);
	ok(s.n == 1 && s.ns == 10000000, "a million times of a thread are one sample of their sum");
	ok(s.last_time == 1, "  with the time of the first");
	is_u64(take(o).n, 0, "taken once");
	add(o, one, 7, 8, 2, 5, 1);
	add(o, one, 7, 8, 3, 5, 2);
	add(o, one, 7, 8, 2, 6, 3);
	add(o, one, 7, 9, 2, 5, 4);
	add(o, (struct tenant){ TENANT_USER, 1001 }, 7, 8, 2, 5, 5);
	s = take(o);
	ok(s.n == 5 && s.ns == 50 && !s.unordered,
	   "events, cgroups, threads and tenants have sums of their own, in order of time");
	for (uint64_t event = 2; event < 5; event++)
		for (uint32_t i = 0; i < 3 * OVERTIMES_ROWS; i++)
			add(o, one, 1000 + i, 1000 + i, event, 5, ++t);
	for (uint32_t i = 0; i < OVERTIMES_ROWS; i++)
		add(o, one, 5000 + i, 5000 + i, 4, 5, ++t);
	overtimes_take(o, count_event, &counts);
	ok(counts.other == 2 * 3 * OVERTIMES_ROWS * 10 && counts.last == 4 * OVERTIMES_ROWS * 10,
	   "each of three events has the times of its own further threads");
	for (uint32_t i = 0; i < 100000; i++)
		add(o, one, 1000 + i, 1000 + i, 2 + i % 2, 5, ++t);
	add(o, (struct tenant){ TENANT_CONTAINER, 1000 }, 7, 7, 2, 5, ++t);
	s = take(o);
	ok(s.n <= OVERTIMES_ROWS + 2 && s.ns == 1000010,
	   "too many threads: a bounded number of rows, and no ns is lost");
	ok(s.of_pid_7 == 10, "  and of another tenant nothing is added to them");
	for (uint64_t i = 0; i < 40000; i++) {
		struct tenant of = { TENANT_USER, i % 5000 };

		while (!add(o, of, (uint32_t)i, (uint32_t)i, 2, 5, ++t)) {
			s = take(o);
			rows = s.n > rows ? s.n : rows;
			taken += s.ns;
		}
		sum += 10;
	}
	taken += take(o).ns;
	ok(taken == sum && rows && rows <= OVERTIMES_MAX,
	   "too many tenants: rows are taken out early, and no ns is lost");
	overtimes_free(o);
	return done();
}
