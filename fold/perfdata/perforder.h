/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perforder.h - queue that sorts records by time, as perf does.
 *
 * The data of a recording are runs, one for each CPU and round, and each run is nearly sorted. At the end of a round
 * all records up to the latest time of the round before are complete. The order is stable: records with equal times
 * keep their order of arrival. The queue stores only pairs (time, where); `where` is a handle of the caller.
 *
 *     order_push(&order, time, where);    for each record of a round
 *     order_round(&order);                at the end of the round
 *     while (order_next(&order, &entry)) ...
 */
#ifndef PJ_PERFORDER_H
#define PJ_PERFORDER_H

#include "common/base.h"

/* A record: time in ns, handle of the caller. */
struct order_entry {
	uint64_t time, where;
};

struct order {
	/* The records e[at, n) wait; `space` is the second buffer of the merge sort. */
	struct order_entry *e, *space;
	/* e[at, ready) are sorted and may be delivered. */
	size_t at, ready, n, cap;
	/* Ends of the sorted runs, for the merge sort. */
	size_t *run, run_cap;
	/* limit: latest time at the end of the round before; latest: latest time of all records. */
	uint64_t limit, latest;
	/* Time of the last record that was delivered. */
	uint64_t gone;
	/* Number of records that arrived after a later one was delivered. */
	uint64_t late;
};

/* Adds a record. The caller calls it only while no record is ready. */
void order_push(struct order *order, uint64_t time, uint64_t where);
/* Ends a round: records up to the latest time of the round before become ready. */
void order_round(struct order *order);
/* Makes the records of the earlier half of the waiting time span ready, at least one. The caller uses it when the
 * waiting records need too much memory. */
void order_half(struct order *order);
/* Makes all records ready: the input has ended. */
void order_all(struct order *order);

/* Sets *entry to the next record that is ready and removes it; false if no record is ready. */
bool order_next(struct order *order, struct order_entry *entry);

/* Returns the number of records in the queue. */
static inline size_t order_waiting(const struct order *order)
{
	return order->n - order->at;
}

/* Frees all memory. */
void order_free(struct order *order);

#endif
