/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spooler.h - folds each window of out/ once into the spool, independently of the store, and enforces the limits of
 * disk space.
 *
 * A window is folded as soon as pjmap has scanned every JVM after the window's end, or after a time limit. A window
 * that cannot be folded goes to bad/. Space is freed in this order: recordings that are folded, old refused windows,
 * the oldest windows of the spool.
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

/* The spooler. The caller sets the members up to `stop`; the others are 0 at first. */
struct spooler {
	struct spool *spool;
	const struct folding *folding;
	/* path of DIR */
	const char *dir;
	/* true: recordings are deleted as soon as they are folded */
	bool keep_spool;
	/* true: only the recordings that out/ has at spooler_begin are folded */
	bool once;
	/* share of the file system that must stay free, 0 to 1 */
	double min_free;
	/* limit of spool/ and bad/ in bytes; 0: none */
	uint64_t max_bytes;
	/* longest time in ms for which a window waits for pjmap */
	uint64_t map_wait_ms;
	/* called with the name of each window after it was spooled; may be NULL */
	void (*spooled)(void *to, struct spool_name name);
	void *to;
	/* when another thread sets it, spooler_pass returns after the current window */
	const atomic_bool *stop;

	/* recordings in out/ that were processed, sorted by epoch: folded ones, and failed ones that wait for a
	 * retry */
	struct spooler_done {
		/* due: time in ms of the clock before which a failed fold is not repeated */
		uint64_t epoch, due;
		unsigned tries;
		bool folded;
	} * done;
	size_t n, cap;
	/* disk space in bytes of spool/ and of bad/; ms of the clock of the last measurement and of the last message */
	uint64_t bytes, bad_bytes, counted, shown;
	/* number of recordings that went to bad/ because they cannot be folded */
	uint64_t unreadable;
	/* with `once`: epochs of the recordings in out/ at spooler_begin, sorted */
	uint64_t *first;
	size_t nfirst;
};

/* Measures the spool and, with `once`, lists out/. Call it before the other functions. */
void spooler_begin(struct spooler *spooler);
/* Folds the windows that are ready and enforces the limits of disk space. Returns true if a window waits for pjmap. */
bool spooler_pass(struct spooler *spooler);
/* Sets *n to the number of windows in out/ that are not folded; with `once`, of those that were there at spooler_begin.
 * Returns false and errno if out/ cannot be read. */
bool spooler_left(struct spooler *spooler, size_t *n);
/* Frees the lists of processed recordings. */
void spooler_end(struct spooler *spooler);

#endif
