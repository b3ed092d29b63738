/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spooler.h - folds each recording in out/ once into the spool, independently of the store, and keeps the disk limits.
 *
 * A recording is folded as soon as pjmap has scanned every JVM after the window's end, or after a time limit. A
 * recording that cannot be folded goes to bad/. If disk space is short, the spooler deletes in this order: folded
 * recordings, the oldest refused windows in bad/, the oldest windows in spool/.
 *
 * One thread calls these functions:
 *
 *	spooler_begin(&spooler);
 *	while (!stop) { spooler_pass(&spooler); sleep }
 *	spooler_end(&spooler);
 */
#ifndef PJ_SPOOLER_H
#define PJ_SPOOLER_H

#include "send/spool/folding.h"
#include "send/spool/spool.h"

#include <stdatomic.h>

/* The state of the spooler. The caller sets the members up to `stop`; the others are 0 at first. */
struct spooler {
	struct spool *spool;
	const struct folding *folding;
	/* path of DIR */
	const char *dir;
	/* true if recordings are deleted as soon as they are folded (--keep=spool) */
	bool keep_spool;
	/* true if spooler_pass folds only the recordings that out/ contains at spooler_begin */
	bool once;
	/* share of the file system that must stay free, 0 to 1 */
	double min_free;
	/* limit in bytes of spool/ and bad/ together; 0: no limit */
	uint64_t max_bytes;
	/* longest time in ms that a window waits for pjmap's next scan */
	uint64_t map_wait_ms;
	/* callback for each window, with its name, after it was spooled; NULL: none */
	void (*spooled)(void *to, struct spool_name name);
	void *to;
	/* true if spooler_pass must return after the current window; set by another thread */
	const atomic_bool *stop;

	/* processed recordings in out/, sorted by epoch: finished ones, and failed ones that wait for a retry */
	struct spooler_done {
		/* epoch: start of the window in s since 1970; due: earliest time of the next attempt to fold it, in ms
		 * (clock_now_ms) */
		uint64_t epoch, due;
		/* number of crashes of pjfold on it in this run */
		unsigned tries;
		/* true if it needs no further attempt: folded, empty, or moved to bad/ */
		bool folded;
	} * done;
	size_t n, cap;
	/* bytes: disk space of spool/ in bytes; bad_bytes: disk space of bad/ in bytes; counted: time in ms
	 * (clock_now_ms) at which both were last measured; shown: time in ms (clock_now_ms) of the last message */
	uint64_t bytes, bad_bytes, counted, shown;
	/* number of recordings that were moved to bad/ because they cannot be folded */
	uint64_t unreadable;
	/* with `once`: epochs of the recordings in out/ at spooler_begin, sorted */
	uint64_t *first;
	size_t nfirst;
};

/* Lists the windows that are already in the spool and, with `once`, the recordings in out/. Call it before the other
 * functions. Exits with a message on failure. */
void spooler_begin(struct spooler *spooler);
/* Folds the recordings that are ready and keeps the disk limits. Returns true if a recording waits for pjmap's next
 * scan. */
bool spooler_pass(struct spooler *spooler);
/* Sets *n to the number of recordings in out/ that are not folded; with `once`, only of those that were there at
 * spooler_begin. Returns false if out/ cannot be read, with errno. */
bool spooler_left(struct spooler *spooler, size_t *n);
/* Frees the lists of recordings. */
void spooler_end(struct spooler *spooler);

#endif
