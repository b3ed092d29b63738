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

/* The counters, then the gauges. The table in counters.c has their names in the file. */
enum counter {
	/* number of windows that were folded into the spool */
	COUNT_FOLDED,
	/* number of windows without samples, which are not sent */
	COUNT_EMPTY,
	/* number of windows of which only a part could be folded */
	COUNT_DAMAGED,
	/* number of windows that went to bad/ because pjfold cannot read them */
	COUNT_UNREADABLE,
	/* number of folds that failed for other reasons than the window */
	COUNT_FOLD_FAILED,
	/* number of windows that were folded before pjmap had scanned every JVM */
	COUNT_UNMAPPED,
	/* number of windows that a store confirmed */
	COUNT_SENT,
	/* number of documents that a store confirmed and did not have before */
	COUNT_DOCUMENTS,
	/* number of documents that a store already had */
	COUNT_KNOWN,
	/* number of windows of which the store has other content */
	COUNT_DIFFERS,
	/* bytes of request bodies as transferred; number of requests to the store */
	COUNT_BYTES,
	COUNT_REQUESTS,
	/* numbers of failed attempts, by verdict (store.h) */
	COUNT_LATER,
	COUNT_INDETERMINATE,
	COUNT_HOLD,
	/* number of windows that a store refused; they are in bad/ */
	COUNT_REFUSED,
	/* number of documents that a store refused; they are in bad/ */
	COUNT_POISON,
	/* number of windows that were deleted unsent because of the limits of disk space */
	COUNT_DROPPED,
	/* number of recordings that were deleted for space after they were folded; their windows remain in the spool */
	COUNT_RAW_DROPPED,
	/* gauges: number of windows in the spool, their bytes, age of the oldest in s, 1 while the last verdict is
	 * HOLD, time of the last confirmed window in s since 1970 */
	COUNT_WAITING,
	COUNT_SPOOL_BYTES,
	COUNT_OLDEST_S,
	COUNT_HELD,
	COUNT_LAST_SENT,
	COUNTERS
};

/* Opens the counters of DIR and reads their earlier values from DIR/pjsend.prom; without that file all counters are 0.
 * dir: descriptor of DIR, which must stay open. */
void counters_open(int dir);
/* Adds n to a counter. */
void count(enum counter which, uint64_t n);
/* Sets one of the gauges, the last five of enum counter. */
void count_set(enum counter which, uint64_t n);
/* Returns the increase of a counter since counters_open, or the value of a gauge. */
uint64_t counter_get(enum counter which);
/* Replaces DIR/pjsend.prom by the current values. Returns false and errno on failure. */
bool counters_write(void);

#endif
