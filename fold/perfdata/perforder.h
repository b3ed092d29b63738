/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perforder.h - records by time, as perf orders them.
 *
 * The data of a recording are runs, one a processor and round, each nearly in order. At the end of a round everything
 * up to the latest time of the round before is complete. Stable: equal times stay in the order in which they came. Only
 * (time, where) is known here.
 */
#ifndef PJ_PERFORDER_H
#define PJ_PERFORDER_H

#include "common/base.h"

struct order_entry {
	uint64_t time, where;
};

struct order {
	struct order_entry *e, *space; /* waiting: e[at..n); room: for merging */
	size_t at, ready, n, cap;      /* e[at..ready) may go */
	size_t *run, run_cap;
	uint64_t limit, latest; /* of the round before, of all */
	uint64_t gone;          /* time of what went last */
	uint64_t late;          /* came when later ones had gone */
};

void order_push(struct order *order, uint64_t time, uint64_t where); /* only while nothing is ready */
void order_round(struct order *order);                               /* a round ended */
void order_half(
	struct order *order); /* too much waits: the earlier half of the time that it spans may go, at least one */
void order_all(struct order *order); /* the end */

/* The next that may go. */
bool order_next(struct order *order, struct order_entry *entry);

static inline size_t order_waiting(const struct order *order)
{
	return order->n - order->at;
}

void order_free(struct order *order);

#endif
