/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/perforder.h"

#include "common/arena.h"

#include <stdlib.h>
#include <string.h>

void order_push(struct order *o, uint64_t time, uint64_t where)
{
	if (o->n == o->cap) {
		o->cap = o->cap ? o->cap * 2 : 4096;
		o->e = mem_grow(o->e, sizeof(*o->e), o->cap);
	}
	o->e[o->n++] = (struct order_entry){ time, where };
	if (time > o->latest)
		o->latest = time;
	o->late += time < o->gone;
}

/* Ends of the runs that are in order already; returns their number. */
static size_t find_runs(struct order *o)
{
	size_t n = 0;

	for (size_t i = 1; i <= o->n; i++) {
		if (i < o->n && o->e[i].time >= o->e[i - 1].time)
			continue;
		if (n == o->run_cap) {
			o->run_cap = o->run_cap ? o->run_cap * 2 : 64;
			o->run = mem_grow(o->run, sizeof(*o->run), o->run_cap);
		}
		o->run[n++] = i;
	}
	return n;
}

static void perforder_merge(const struct order_entry *a, const struct order_entry *middle,
			    const struct order_entry *end, struct order_entry *to)
{
	const struct order_entry *b = middle;

	while (a < middle && b < end)
		*to++ = b->time < a->time ? *b++ : *a++;
	memcpy(to, a, (size_t)(middle - a) * sizeof(*a));
	memcpy(to + (middle - a), b, (size_t)(end - b) * sizeof(*b));
}

/* Merges neighbouring runs until one is left. */
static void perforder_sort(struct order *o)
{
	size_t runs, saved;

	o->n -= o->at;
	if (o->n == 0) {
		o->at = 0;
		return;
	}
	memmove(o->e, o->e + o->at, o->n * sizeof(*o->e));
	o->at = 0;
	runs = find_runs(o);
	if (runs > 1)
		o->space = mem_grow(o->space, sizeof(*o->space), o->cap);
	for (; runs > 1; runs = saved) {
		struct order_entry *swap = o->e;
		size_t start = 0;

		saved = 0;
		for (size_t i = 0; i < runs; i += 2) {
			size_t middle = o->run[i], end = i + 1 < runs ? o->run[i + 1] : middle;

			perforder_merge(o->e + start, o->e + middle, o->e + end, o->space + start);
			start = end;
			o->run[saved++] = end;
		}
		o->e = o->space;
		o->space = swap;
	}
}

static void ready_until(struct order *o, uint64_t time)
{
	for (o->ready = o->at; o->ready < o->n && o->e[o->ready].time <= time; o->ready++)
		;
}

void order_round(struct order *o)
{
	perforder_sort(o);
	ready_until(o, o->limit);
	o->limit = o->latest;
}

void order_half(struct order *o)
{
	perforder_sort(o);
	if (o->n)
		ready_until(o, o->e[0].time + (o->e[o->n - 1].time - o->e[0].time) / 2);
}

void order_all(struct order *o)
{
	perforder_sort(o);
	o->ready = o->n;
}

bool order_next(struct order *o, struct order_entry *entry)
{
	if (o->at >= o->ready)
		return false;
	*entry = o->e[o->at++];
	o->gone = entry->time;
	return true;
}

void order_free(struct order *o)
{
	free(o->e);
	free(o->space);
	free(o->run);
	*o = (struct order){ 0 };
}
