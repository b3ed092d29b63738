/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windows.h - the directory DIR and the life of windows in it: create, finish, drop, delete, rescue.
 *
 *	recording/E.data   being written, locked by its run
 *	recording/used     all E that were ever used (epochs.h)
 *	out/E.data         complete, never changed again
 *	bad/E.data, .why   left by a killed run, cannot be rescued; .why has the reason
 *	pjrecord.prom      metrics of all runs (metrics.h)
 *
 * One thread, the finisher, does all work that may be slow: fsync, rename, unlink, limits, printing, metrics, rescue.
 * So a slow disk never delays the recorder, which empties the rings. The finisher's queue holds 64 windows. A window
 * that does not fit stays in recording/ without a lock, is counted as delayed, and is rescued later. All functions of
 * this module are called by the recorder's thread; only windows_close waits for the finisher.
 *
 * Windows have locks (flock). A process that writes or removes a window holds its exclusive lock. A process that reads
 * a complete window and needs it to stay holds a shared lock. An unlocked window in recording/ belongs to a dead run.
 */
#ifndef PJ_WINDOWS_H
#define PJ_WINDOWS_H

#include "record/windows/metrics.h"

#include <sys/types.h>

struct windows_options {
	const char *dir;
	uint64_t keep_bytes; /* limit of the sum of all windows in out/ and bad/, in bytes; 0: no limit */
	uint64_t keep_age_s; /* limit of the age of each window, in s; 0: no limit */
	double min_free;     /* share of the file system's size that must stay free, 0 to 1; 0: no limit */
	bool print;          /* true: print the paths of complete windows on standard output */
	bool quiet;          /* true: print no summary of windows */
	bool verbose;        /* true: the summary has all counts of a window; false: it is one sentence */
};

/* A window that is being recorded. The struct owns fd until windows_finish or windows_drop. */
struct window {
	int fd;         /* descriptor of recording/E.data, open for reading and writing, locked; -1: none */
	uint64_t epoch; /* name of the window: planned start in s since 1970, or the next free second */
};

/* Creates DIR and the folders in it, those of symsaver.h included. Called before privileges are dropped and before
 * windows_open. Started by root, creates them for the user *uid and group *gid; if *uid is -1, for the owner of DIR.
 * Sets *uid and *gid to that owner, for privileges_drop: so a recorder that was started by root writes as the owner of
 * DIR. Ends the process if a folder cannot be created, is a link, is writable for other users, or belongs to another
 * user. */
void windows_prepare(const char *dir, uid_t *uid, gid_t *gid);

/* Opens the recorder's lock of DIR for the seconds [from, to) since 1970 (recorderlock.h), without taking it. Called
 * after privileges are dropped. Returns false with errno on failure. Ends the process if DIR cannot be used. */
struct recorderlock;
bool windows_lock(const char *dir, uint64_t from, uint64_t to, struct recorderlock *lock);

/* Opens DIR, starts the finisher, which first cleans up after killed runs, and returns the state of both; never NULL.
 * Ends the process with a message if DIR cannot be used. From then on the process ignores SIGXFSZ. */
struct windows *windows_open(const struct windows_options *options);

/* Creates the file of a window with name `epoch` (s since 1970). If any run has used that name before, uses the next
 * free one. Returns false with errno on failure. Then the window is counted as dropped and, if space is missing, the
 * finisher deletes windows for the next one. Of successive failures, one message reports the first. */
bool windows_create(struct windows *windows, uint64_t epoch, struct window *window);

/* Passes a complete window to the finisher, which moves it to out/, prints its path and summary, and adds it to the
 * metrics. Does not wait for the finisher. Sets window->fd to -1. */
void windows_finish(struct windows *windows, struct window *window, const struct window_report *report);

/* To be called for a window that could not be written: passes it to the finisher, which removes it. error: errno of the
 * cause; the finisher then reports and counts the window as dropped, and makes space if the disk or quota is full.
 * error 0: the window is only removed. report: properties of the window as far as they are known, or NULL. */
void windows_drop(struct windows *windows, struct window *window, int error, const struct window_report *report);

/* Sets *end_ns to the latest planned end (ns of CLOCK_MONOTONIC of this boot) of the windows that other running
 * recorders are writing. Returns false and sets *end_ns to 0 if there are none. A run that starts later begins exactly
 * at that time, so that overlapping runs leave no gap. */
bool windows_predecessor(struct windows *windows, uint64_t *end_ns);

/* Sets *complete and *dropped to the numbers of complete and of dropped windows of this run so far. */
void windows_counts(struct windows *windows, uint64_t *complete, uint64_t *dropped);

/* Waits until the finisher has finished all windows and has printed their paths, and frees `windows`. Returns false if
 * a window of this run was dropped or a path was not printed. */
bool windows_close(struct windows *windows);

#endif
