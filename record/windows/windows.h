/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windows.h - the directory DIR and the life of windows: created, finished, dropped, deleted, rescued.
 *
 *	recording/E.data   being written, locked by its run          out/E.data   complete, never changed again
 *	bad/E.data, .why   left by a killed run, cannot be rescued    pjrecord.prom, used (all E that were ever used)
 *
 * One thread, the finisher, does all that may be slow (fsync, rename, unlink, limits, printing, metrics, rescue), so a
 * slow disk never stalls the recorder, which empties the rings. Its queue is bounded: a window beyond it stays in
 * recording/ without a lock, is counted as delayed, and is rescued later. All functions are for one thread, that of the
 * recorder; only windows_close waits.
 *
 * Each window has locks (flock). A process that writes or removes a window holds its exclusive lock; one that reads a
 * complete window and needs it to stay holds a shared lock. An unlocked window in recording/ is that of a dead run.
 */
#ifndef PJ_WINDOWS_H
#define PJ_WINDOWS_H

#include "record/windows/metrics.h"

#include <sys/types.h>

struct windows_options {
	const char *dir;
	uint64_t keep_bytes; /* limit of bytes of all windows in out/ and bad/; 0: no limit */
	uint64_t keep_age_s; /* limit of the age of windows in s; 0: no limit */
	double min_free;     /* share of the file system, 0..1, that stays free; 0: no limit */
	bool print;          /* paths of complete windows on stdout */
	bool quiet;          /* no summary of each window */
	bool verbose;        /* all counts in the summary, not the sentence */
};

/* A window that is being recorded. The struct owns fd until it is finished or dropped. */
struct window {
	int fd;         /* descriptor of recording/E.data, for reading and writing, locked; -1: none */
	uint64_t epoch; /* start E in s since 1970, the window's name */
};

/* Makes DIR and the folders in it (those of symsaver.h, too), before privileges are dropped, and so before
 * windows_open. As root: for *uid and *gid, or, if these are -1, for the owner of DIR; returns the owner in them, for
 * privileges_drop. So a recorder that was started as root writes as the owner of DIR. Ends the process if a folder is a
 * link or belongs to another user. */
void windows_prepare(const char *dir, uid_t *uid, gid_t *gid);

/* Opens the lock of the recorder of DIR for the seconds [from, to) (recorderlock.h), after privileges are dropped.
 * Returns false and errno on failure. */
struct recorderlock;
bool windows_lock(const char *dir, uint64_t from, uint64_t to, struct recorderlock *lock);

/* Opens DIR and starts the finisher, which first cleans up after killed runs. Ends the process if DIR cannot be used.
 * SIGXFSZ is ignored from here on. */
struct windows *windows_open(const struct windows_options *options);

/* Creates the window `epoch`; if any run has used that number, also before the clock was set back, takes the next free
 * one. Returns false and errno on failure: the window is counted as dropped, one message reports it until creation
 * succeeds again, and the finisher makes space for the next window. */
bool windows_create(struct windows *windows, uint64_t epoch, struct window *window);

/* Hands a complete window to the finisher, which moves it to out/, prints its path and summary, and counts it. Returns
 * at once. */
void windows_finish(struct windows *windows, struct window *window, const struct window_report *report);

/* Drops a window that could not be written; error is the errno of the cause. The finisher removes, reports and counts
 * the window, and makes space if the disk is full. With error 0 it only removes the window. report: the data of
 * the window as far as they are known, or NULL. */
void windows_drop(struct windows *windows, struct window *window, int error, const struct window_report *report);

/* Sets *end_ns to the latest planned end (struct pj_window, ns of CLOCK_MONOTONIC of this boot) of the windows that
 * other living runs are writing. Returns false if there is none. A later run begins exactly there, so that overlapping
 * runs leave no gap. */
bool windows_predecessor(struct windows *windows, uint64_t *end_ns);

/* Returns the numbers of complete and of dropped windows of this run so far. */
void windows_counts(struct windows *windows, uint64_t *complete, uint64_t *dropped);

/* Waits until the finisher has finished all windows and printed their paths. Returns false if a window was dropped or a
 * path was not printed. */
bool windows_close(struct windows *windows);

#endif
