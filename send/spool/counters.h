/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h - counters of windows and attempts for Prometheus, in the file DIR/pjsend.prom.
 *
 * The counts continue over all runs of pjsend in DIR: counters_open reads the values of earlier runs from the file.
 * There is one set of counters per process, and any thread may count. The file is replaced atomically.
 */
#ifndef PJ_COUNTERS_H
#define PJ_COUNTERS_H

#include "common/base.h"

/* The counters, followed by the gauges (from COUNT_WAITING on). The table in counters.c has their names in the file. */
enum counter {
	/* number of windows that were folded and written to the spool */
	COUNT_FOLDED,
	/* number of windows without samples, which are not sent */
	COUNT_EMPTY,
	/* number of damaged windows, of which only a part could be folded */
	COUNT_DAMAGED,
	/* number of windows that were moved to bad/ because pjfold cannot read them */
	COUNT_UNREADABLE,
	/* number of attempts to fold a window that failed and are repeated later */
	COUNT_FOLD_FAILED,
	/* number of windows that were folded before pjmap had scanned every JVM */
	COUNT_UNMAPPED,
	/* number of windows that a store confirmed */
	COUNT_SENT,
	/* number of documents that a store confirmed and did not have before */
	COUNT_DOCUMENTS,
	/* number of documents that a store already had */
	COUNT_KNOWN,
	/* number of windows for which the store holds other content under the same name */
	COUNT_DIFFERS,
	/* COUNT_BYTES: bytes of request bodies as transferred; COUNT_REQUESTS: number of requests to the store */
	COUNT_BYTES,
	COUNT_REQUESTS,
	/* number of failed attempts, one counter for each verdict (store.h) */
	COUNT_LATER,
	COUNT_INDETERMINATE,
	COUNT_HOLD,
	/* number of windows that a store refused and that were moved to bad/ */
	COUNT_REFUSED,
	/* number of documents that a store refused and that were written to bad/ */
	COUNT_POISON,
	/* number of windows that were deleted unsent to keep the disk limits */
	COUNT_DROPPED,
	/* number of folded recordings that were deleted for disk space or by --keep=spool; their windows remain in the
	 * spool */
	COUNT_RAW_DROPPED,
	/* gauges: WAITING: number of windows in the spool; SPOOL_BYTES: bytes of these windows; OLDEST_S: age of the
	 * oldest one in s; HELD: 1 if an attempt failed with STORE_HOLD and no window was confirmed since, else 0;
	 * LAST_SENT: time of the last confirmed window, in s since 1970 */
	COUNT_WAITING,
	COUNT_SPOOL_BYTES,
	COUNT_OLDEST_S,
	COUNT_HELD,
	COUNT_LAST_SENT,
	COUNTERS
};

/* Opens the counters of DIR: continues the values in DIR/pjsend.prom, or starts at 0 if the file does not exist. dir:
 * descriptor of DIR, which must stay open. */
void counters_open(int dir);
/* Adds n to a counter, not a gauge. */
void count(enum counter which, uint64_t n);
/* Sets a gauge (COUNT_WAITING and later) to n. */
void count_set(enum counter which, uint64_t n);
/* Returns the increase of a counter since counters_open, or the value that count_set gave a gauge. */
uint64_t counter_get(enum counter which);
/* Replaces DIR/pjsend.prom with the current values. Returns false on failure, with errno. */
bool counters_write(void);

#endif
