/* SPDX-License-Identifier: Apache-2.0 */
/* perforder - what perf does, and a stable sort. */
/* covers: fold/perfdata/perforder.c */
#include "fold/perfdata/perforder.h"

#include "common/arena.h"
#include "test/lib/tap.h"

#include <stdlib.h>

static uint64_t seed = 7;

static uint64_t any(uint64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % below;
}

static int by_time(const void *va, const void *vb)
{
	const struct order_entry *a = va, *b = vb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->where < b->where ? -1 : 1;
}

/* Everything at the end, of n entries in runs of about that length. */
static bool sorts(size_t n, size_t run, uint64_t max)
{
	struct order_entry *want = mem_alloc(sizeof(*want), n + 1), e;
	struct order o = { 0 };
	uint64_t time = 0;
	size_t i;
	bool good = true;

	for (i = 0; i < n; i++) {
		time = any(run) == 0 ? any(max) : time + any(3);
		want[i] = (struct order_entry){ time, i };
		order_push(&o, time, i);
	}
	good = !order_next(&o, &e);
	order_all(&o);
	qsort(want, n, sizeof(*want), by_time);
	for (i = 0; good && order_next(&o, &e); i++)
		good = i < n && e.time == want[i].time && e.where == want[i].where;
	good = good && i == n && order_waiting(&o) == 0 && o.late == 0;
	free(want);
	order_free(&o);
	return good;
}

static struct str pop(struct order *order)
{
	static char text[1000];
	struct order_entry e;
	size_t n = 0;

	while (order_next(order, &e))
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%u:%u ", (unsigned)e.time, (unsigned)e.where);
	return (struct str){ text, n };
}

static void rounds(void)
{
	struct order o = { 0 };

	order_round(&o);
	is_str(pop(&o), STR(""), "a round of nothing");
	order_push(&o, 10, 1);
	order_push(&o, 30, 2);
	order_push(&o, 20, 3);
	order_round(&o);
	is_str(pop(&o), STR(""), "the first round holds all back");
	order_push(&o, 25, 4);
	order_push(&o, 40, 5);
	order_push(&o, 30, 6);
	order_round(&o);
	is_str(pop(&o), STR("10:1 20:3 25:4 30:2 30:6 "),
	       "up to the latest of the round before, equal ones as they came");
	order_push(&o, 5, 7);
	ok(o.late == 1, "too late: counted");
	order_round(&o);
	is_str(pop(&o), STR("5:7 40:5 "), "and delivered as soon as may be");
	order_push(&o, 100, 8);
	order_push(&o, 200, 9);
	order_push(&o, 149, 10);
	order_half(&o);
	is_str(pop(&o), STR("100:8 149:10 "), "half of the time");
	order_half(&o);
	is_str(pop(&o), STR("200:9 "), "half of one is one");
	order_half(&o);
	is_str(pop(&o), STR(""), "nothing is left");
	order_round(&o);
	order_all(&o);
	is_str(pop(&o), STR(""), "  after a round, either");
	order_free(&o);
}

int main(void)
{
	rounds();
	ok(sorts(0, 1, 1) && sorts(1, 1, 1) && sorts(2, 1, 2), "next to nothing");
	ok(sorts(10000, 1, 100000), "no order at all");
	ok(sorts(10000, 1, 10), "many equal ones");
	ok(sorts(10000, 1000, 100), "long runs");
	ok(sorts(10001, 100000, 100), "in order already");
	ok(sorts(4097, 2, 1000), "short runs, where the table grows");
	return done();
}
