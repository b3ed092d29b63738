/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h - counters of windows and attempts for Prometheus, in DIR/pjsend.prom.
 *
 * They belong to DIR, not to a process: counters_open continues the values in the file. There is one set for each
 * process. Any thread may count; the file is replaced atomically.
 */
#ifndef PJ_COUNTERS_H
#define PJ_COUNTERS_H

#include "common/base.h"

/* The counters, then the gauges. Their names in the file are in counters.c. */
enum counter {
	/* windows that were spooled */
	COUNT_FOLDED,
	/* windows without samples, which are not sent */
	COUNT_EMPTY,
	/* windows that were folded in part */
	COUNT_DAMAGED,
	/* windows that went to bad/ because pjfold cannot read them */
	COUNT_UNREADABLE,
	/* folds that failed for other reasons */
	COUNT_FOLD_FAILED,
	/* windows that were folded before pjmap had scanned every JVM */
	COUNT_UNMAPPED,
	/* windows that a store confirmed */
	COUNT_SENT,
	/* documents that a store confirmed */
	COUNT_DOCUMENTS,
	/* documents that a store already had */
	COUNT_KNOWN,
	/* windows of which the store has other content */
	COUNT_DIFFERS,
	/* bytes and requests to the store */
	COUNT_BYTES,
	COUNT_REQUESTS,
	/* failed attempts, by verdict (store.h) */
	COUNT_LATER,
	COUNT_INDETERMINATE,
	COUNT_HOLD,
	/* windows that a store refused; they are in bad/ */
	COUNT_REFUSED,
	/* documents that a store refused; they are in bad/ */
	COUNT_POISON,
	/* windows that were deleted unsent because of the limits */
	COUNT_DROPPED,
	/* recordings that were deleted because of the limits; their folded windows remain */
	COUNT_RAW_DROPPED,
	/* gauges: windows and bytes in the spool, age of the oldest window in s, HOLD is in effect, time of the last
	 * success */
	COUNT_WAITING,
	COUNT_SPOOL_BYTES,
	COUNT_OLDEST_S,
	COUNT_HELD,
	COUNT_LAST_SENT,
	COUNTERS
};

/* Reads DIR/pjsend.prom; dir is a descriptor of DIR, which must stay open. Without the file all counters are 0. */
void counters_open(int dir);
/* Adds n to a counter. */
void count(enum counter which, uint64_t n);
/* Sets one of the gauges, the last five. */
void count_set(enum counter which, uint64_t n);
/* Returns the increase of a counter since counters_open, or the value of a gauge. */
uint64_t counter_get(enum counter which);
/* Replaces the file. Returns false and errno on failure. */
bool counters_write(void);

#endif
