/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retention.h - deletes the oldest complete windows of DIR beyond the limits of size, age and free space.
 *
 * A list in memory avoids reading a directory of months of windows for each new one. It is read again before a deletion
 * and after changes by other processes, but for at most a thousandth of the time. A window is deleted under its
 * exclusive lock, so one that a reader holds with a shared lock stays; so does the newest, whatever the limits. Windows
 * in bad/ are deleted before those in out/.
 *
 * The oldest window is the one that was completed first, not the one with the lowest name: names are wall-clock
 * seconds, and after a clock was set back the newest windows have the lowest names. The order is kept in the files'
 * times of modification: retention_stamp() moves that of a new window after those of all others if the clock is behind
 * them.
 *
 * Where the file system is too full, files in symbols/ and jit/ that no window needs go first, then windows; after some
 * of these, the files that only they needed.
 */
#ifndef PJ_RETENTION_H
#define PJ_RETENTION_H

#include "record/windows/metrics.h"
#include "record/windows/windir.h"

#include <sys/stat.h>

struct retention_limits {
	/* 0: no limit. */
	uint64_t bytes, age_s;
	/* Share of the file system; 0: no limit. */
	double min_free;
	/* Bytes that must be free at least. */
	uint64_t reserve;
	/* Deletes files that no window needs and returns their bytes; or NULL. */
	uint64_t (*drop_symbols)(void *arg);
	void *arg;
};

struct retention {
	struct retention_window {
		uint64_t epoch, bytes;
		uint64_t stamp;    /* ns since 1970, greater than that of windows completed before */
		bool bad, expired; /* expired: older than age_s at the last retention_limit */
	} * window;                /* bad ones first, then in the order of completion, once sorted */
	size_t n, cap;
	uint64_t windows, bytes; /* in out/ */
	uint64_t bad_windows, bad_bytes;
	bool sorted;
	uint64_t newest;               /* highest stamp in out/ */
	int64_t changed_s, changed_ns; /* time of modification of out/ after our last change */
	uint64_t polled, look_ns;      /* time of the last reading, and its duration */
};

/* Reads the folders, unless that would exceed the share of time. */
void retention_scan(struct retention *retention, const struct windir *windir);

/* Adds a window that has just been moved to out/. */
void retention_add(struct retention *retention, const struct windir *windir, uint64_t epoch, const struct stat *status);

/* Sets the time of modification of a window that is about to be moved to out/, if the clock was set back since others
 * were completed. */
void retention_stamp(struct retention *retention, const struct windir *windir, int fd);

/* Deletes windows until the limits hold and `space` more bytes are free; counts them in metrics. now: seconds since
 * 1970. Returns false if less space is free than the limits require and nothing more may be deleted. */
bool retention_limit(struct retention *retention, const struct windir *windir, const struct retention_limits *limits,
		     uint64_t space, uint64_t now, struct metrics *metrics);

/* The time by which windows get old, in seconds since 1970: wall-clock time, but a clock that jumps ahead counts only
 * once it has stayed ahead for a day, or for the age limit if that is less: windows that nobody has sent yet must not
 * go because of a wrong clock that is put right soon. Until then time goes on from before the jump. Between two runs it
 * stands at the newest window. */
struct retention_clock {
	uint64_t trusted, boot; /* result and clock since boot of the last call; trusted 0: none yet */
	uint64_t ahead_since;   /* on the clock since boot; 0: the wall clock is not ahead */
};

/* Returns that time. All arguments are in seconds; newest: stamp of the newest window, 0 if there is none. Pure. */
uint64_t retention_now(struct retention_clock *clock, uint64_t wall, uint64_t boot, uint64_t newest, uint64_t age_s);

/* Returns the bytes that a file takes on disk. */
uint64_t retention_size(const struct stat *status);

/* Returns the free bytes of the file system for users other than root; *all: its size. */
uint64_t retention_free(const struct windir *windir, uint64_t *all);
void retention_free_list(struct retention *retention);

#endif
