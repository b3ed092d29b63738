/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/perforder.h"

#include "common/arena.h"

#include <stdlib.h>
#include <string.h>

void order_push(struct order *order, uint64_t time, uint64_t where)
{
	if (order->n == order->cap) {
		order->cap = order->cap ? order->cap * 2 : 4096;
		order->e = mem_grow(order->e, sizeof(*order->e), order->cap);
	}
	order->e[order->n++] = (struct order_entry){ time, where };
	if (time > order->latest)
		order->latest = time;
	order->late += time < order->gone;
}

/* Finds the sorted runs in order->e. Stores the indexes of their ends in order->run, and returns the number of runs. */
static size_t find_runs(struct order *order)
{
	size_t n = 0;

	for (size_t i = 1; i <= order->n; i++) {
		if (i < order->n && order->e[i].time >= order->e[i - 1].time)
			continue;
		if (n == order->run_cap) {
			order->run_cap = order->run_cap ? order->run_cap * 2 : 64;
			order->run = mem_grow(order->run, sizeof(*order->run), order->run_cap);
		}
		order->run[n++] = i;
	}
	return n;
}

static void perforder_merge(const struct order_entry *a, const struct order_entry *middle,
			    const struct order_entry *end, struct order_entry *entry)
{
	const struct order_entry *b = middle;

	while (a < middle && b < end)
		*entry++ = b->time < a->time ? *b++ : *a++;
	memcpy(entry, a, (size_t)(middle - a) * sizeof(*a));
	memcpy(entry + (middle - a), b, (size_t)(end - b) * sizeof(*b));
}

/* Moves the queue to the start of order->e and sorts it by time: merges neighbouring runs until one run is left. No
 * record is ready then. */
static void perforder_sort(struct order *order)
{
	size_t runs, retained;

	order->n -= order->at;
	if (order->n)
		memmove(order->e, order->e + order->at, order->n * sizeof(*order->e));
	order->at = order->ready = 0;
	if (order->n == 0)
		return;
	runs = find_runs(order);
	if (runs > 1)
		order->space = mem_grow(order->space, sizeof(*order->space), order->cap);
	for (; runs > 1; runs = retained) {
		struct order_entry *swap = order->e;
		size_t start = 0;

		retained = 0;
		for (size_t i = 0; i < runs; i += 2) {
			size_t middle = order->run[i], end = i + 1 < runs ? order->run[i + 1] : middle;

			perforder_merge(order->e + start, order->e + middle, order->e + end, order->space + start);
			start = end;
			order->run[retained++] = end;
		}
		order->e = order->space;
		order->space = swap;
	}
}

/* Makes all records up to `time` ready for delivery. The queue must be sorted. */
static void ready_until(struct order *order, uint64_t time)
{
	for (order->ready = order->at; order->ready < order->n && order->e[order->ready].time <= time; order->ready++)
		;
}

void order_round(struct order *order)
{
	perforder_sort(order);
	ready_until(order, order->limit);
	order->limit = order->latest;
}

void order_half(struct order *order)
{
	perforder_sort(order);
	if (order->n)
		ready_until(order, order->e[0].time + (order->e[order->n - 1].time - order->e[0].time) / 2);
}

void order_all(struct order *order)
{
	perforder_sort(order);
	order->ready = order->n;
}

bool order_next(struct order *order, struct order_entry *entry)
{
	if (order->at >= order->ready)
		return false;
	*entry = order->e[order->at++];
	order->gone = entry->time;
	return true;
}

void order_free(struct order *order)
{
	free(order->e);
	free(order->space);
	free(order->run);
	*order = (struct order){ 0 };
}
