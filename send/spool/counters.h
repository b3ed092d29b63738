/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h - what became of windows, as numbers for Prometheus: DIR/pjsend.prom.
 *
 * They belong to DIR, not to a process: what a file says is gone on from. Both threads count; the file is replaced
 * whole.
 */
#ifndef PJ_COUNTERS_H
#define PJ_COUNTERS_H

#include "common/base.h"

enum counter {
	COUNT_FOLDED,      /* windows that were spooled */
	COUNT_EMPTY,       /* without samples: nothing to send */
	COUNT_DAMAGED,     /* folded in part */
	COUNT_UNREADABLE,  /* to bad/ */
	COUNT_FOLD_FAILED, /* attempts that failed for other reasons */
	COUNT_UNMAPPED,    /* folded before every JVM was looked at */
	COUNT_SENT,        /* windows */
	COUNT_DOCUMENTS,
	COUNT_KNOWN,   /* documents that were there already */
	COUNT_DIFFERS, /* windows that are stored otherwise */
	COUNT_BYTES,
	COUNT_REQUESTS,
	COUNT_LATER,
	COUNT_INDETERMINATE,
	COUNT_HOLD,        /* attempts that failed, by class */
	COUNT_REFUSED,     /* windows, to bad/ */
	COUNT_POISON,      /* documents, to bad/ */
	COUNT_DROPPED,     /* windows that made room unsent */
	COUNT_RAW_DROPPED, /* chunks that made room: their spool is kept */
	/* as they are now */
	COUNT_WAITING,
	COUNT_SPOOL_BYTES,
	COUNT_OLDEST_S,
	COUNT_HELD,
	COUNT_LAST_SENT,
	COUNTERS
};

void counters_open(int dir);                    /* reads what DIR says so far */
void count(enum counter which, uint64_t n);     /* adds */
void count_set(enum counter which, uint64_t n); /* the last five */
uint64_t counter_get(enum counter which);       /* since counters_open; gauges as they are */
bool counters_write(void);                      /* false: errno */

#endif
