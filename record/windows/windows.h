/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windows.h - the directory DIR and the life of windows: made, finished, dropped, deleted, rescued.
 *
 *	recording/E.data   being written, locked by who writes it     out/E.data   complete, never changed again
 *	bad/E.data, .why   what a killed run left and nobody can read  pjrecord.prom, used (which E there ever were)
 *
 * All that may be slow (fsync, rename, unlink, the limits, printing, metrics, rescue) is done by one thread of its own,
 *the finisher, so a slow disk never stalls who empties the rings. What waits for it is bounded: what does not fit stays
 *in recording/ without a lock, is counted as delayed, and is rescued when there is time. All functions are for one
 * thread, that of the recorder; only
 * windows_close waits.
 *
 * Locks (flock) are per window. Who writes a window, or removes it, holds its exclusive lock; who reads a complete one
 *and wants it to stay holds a shared lock. A window in recording/ that nobody locked was left by a run that is dead.
 */
#ifndef PJ_WINDOWS_H
#define PJ_WINDOWS_H

#include "record/windows/metrics.h"

#include <sys/types.h>

struct windows_options {
	const char *dir;
	uint64_t keep_bytes; /* of out/ and bad/; 0: no limit */
	uint64_t keep_age_s; /* 0: no limit */
	double min_free;     /* share of the file system, 0..1, that stays free; 0: no limit */
	bool print;          /* paths of complete windows on stdout */
	bool quiet;          /* no summary lines */
};

/* While windows are few a struct window is copied freely; it owns fd until it is finished or dropped. */
struct window {
	int fd;         /* recording/E.data, empty, for reading and writing; nobody else writes it. -1: none */
	uint64_t epoch; /* E */
};

/* Makes DIR and the folders in it (those of symsaver.h, too), before privileges are dropped, and so before
 * windows_open. As root: for *uid and *gid, or, when they are -1, for the owner of DIR; who it is for is returned in
 * them, for privileges_drop. So a recorder that was started as root writes as the owner of DIR. Folders that are links,
 * or belong to somebody else, are refused: dies. */
void windows_prepare(const char *dir, uid_t *uid, gid_t *gid);

/* Dies when DIR cannot be used. Starts the finisher, which begins by sweeping and rescuing. SIGXFSZ is ignored from
 * here on. */
struct windows *windows_open(const struct windows_options *options);

/* E is epoch, or the next number that was never used, by whomever, also before the clock was set back. False: counted
 * as dropped and said (once, until it works again), errno says why; room is being made, so try again with the next
 * window. */
bool windows_create(struct windows *windows, uint64_t epoch, struct window *window);

/* Complete: to out/, printed, summed up, counted. Returns at once. */
void windows_finish(struct windows *windows, struct window *window, const struct window_report *report);

/* It could not be written: error is the errno. Removed, said, counted; when the disk is full, room is made. error 0:
 * the recorder does not want it, it is removed and that is all. report: as far as it is known, or NULL. */
void windows_drop(struct windows *windows, struct window *window, int error, const struct window_report *report);

/* The planned end (struct pj_window, CLOCK_MONOTONIC of this boot) of the newest window that another living run is
 * writing; false when there is none. For runs that overlap: who comes later begins exactly there. */
bool windows_predecessor(struct windows *windows, uint64_t *end_ns);

/* So far: complete windows of this run, and those that were dropped. */
void windows_counts(struct windows *windows, uint64_t *complete, uint64_t *dropped);

/* Waits until all is finished, stdout included. False: a window was dropped, or a path could not be printed. */
bool windows_close(struct windows *windows);

#endif
