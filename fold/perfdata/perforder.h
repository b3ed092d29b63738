/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perforder.h - queue that sorts records by time, as perf does.
 *
 * The recorder reads the rings of all CPUs in rounds; the records of one ring in one round are nearly sorted. After a
 * round, all records up to the latest time of the previous round have arrived. The order is stable: records with equal
 * times keep their order of arrival. The queue stores only pairs (time, where); `where` is the caller's handle of a
 * record.
 *
 *     order_push(&order, time, where);    for each record of a round
 *     order_round(&order);                at the end of the round
 *     while (order_next(&order, &entry)) ...
 */
#ifndef PJ_PERFORDER_H
#define PJ_PERFORDER_H

#include "common/base.h"

/* A queued record: its time in ns, and the handle by which the caller finds the record. */
struct order_entry {
	uint64_t time, where;
};

struct order {
	/* The queue: e[at .. n - 1]. `space` is the second buffer of the merge sort. */
	struct order_entry *e, *space;
	/* Indexes in e. e[at .. ready - 1]: records that may be delivered, in order of time. n: number of used
	 * elements. cap: number of allocated elements. */
	size_t at, ready, n, cap;
	/* Indexes in e of the ends of sorted runs, for the merge sort; run_cap elements. */
	size_t *run, run_cap;
	/* latest: latest time of all records so far. limit: value of `latest` at the end of the last round. Both are in
	 * ns on the recording's clock. */
	uint64_t limit, latest;
	/* Time in ns of the last delivered record. */
	uint64_t gone;
	/* Number of records that arrived after a record with a later time had been delivered. */
	uint64_t late;
};

/* Adds a record: its time in ns, and the handle `where`. To be called only while no record is ready. */
void order_push(struct order *order, uint64_t time, uint64_t where);
/* Ends a round: records up to the latest time of the previous round become ready. */
void order_round(struct order *order);
/* Makes ready the waiting records up to the middle of their time span; at least one, if any waits. To be called when
 * the waiting records need too much memory. */
void order_half(struct order *order);
/* Makes all queued records ready: at the end of the input, or if order_half() did not release enough memory. */
void order_all(struct order *order);

/* Sets *entry to the next ready record, and removes it from the queue. Returns false if no record is ready. */
bool order_next(struct order *order, struct order_entry *entry);

/* Returns the number of records that are not delivered yet. */
static inline size_t order_waiting(const struct order *order)
{
	return order->n - order->at;
}

/* Frees all memory. */
void order_free(struct order *order);

#endif
