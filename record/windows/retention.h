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
	/* Limits of all windows in bytes and of their age in s; 0: no limit. */
	uint64_t bytes, age_s;
	/* Share of the file system that must stay free, 0 to 1; 0: no limit. */
	double min_free;
	/* Number of bytes that must be free in any case. */
	uint64_t reserve;
	/* Deletes files that no window needs and returns the number of freed bytes. NULL: nothing is deleted. */
	uint64_t (*drop_symbols)(void *arg);
	void *arg;
};

struct retention {
	struct retention_window {
		uint64_t epoch, bytes;
		uint64_t stamp;    /* modification time in ns since 1970, later than that of windows completed before */
		bool bad, expired; /* expired: true if older than age_s at the last retention_limit */
	} * window;                /* once sorted: windows in bad/ first, then in the order of completion */
	size_t n, cap;
	uint64_t windows, bytes; /* number and bytes of the windows in out/ */
	uint64_t bad_windows, bad_bytes;
	bool sorted;
	uint64_t newest;               /* latest stamp of a window in out/ */
	int64_t changed_s, changed_ns; /* modification time of out/ after this process changed it last */
	uint64_t polled, look_ns;      /* time at which the folders were last read, and the duration of that, in ns */
};

/* Reads the folders bad/ and out/ if another process changed out/, unless that would exceed LOOK_SHARE of the time. */
void retention_scan(struct retention *retention, const struct windir *windir);

/* Adds a window that has just been moved to out/ to the list. */
void retention_add(struct retention *retention, const struct windir *windir, uint64_t epoch, const struct stat *status);

/* Sets the modification time of a window that is about to be moved to out/, if the clock was set back since other
 * windows were completed. */
void retention_stamp(struct retention *retention, const struct windir *windir, int fd);

/* Deletes windows until the limits hold and `space` more bytes are free, and counts the deletions in metrics. now:
 * result of retention_now. Returns false if less space is free than the limits require and no more windows may be
 * deleted. */
bool retention_limit(struct retention *retention, const struct windir *windir, const struct retention_limits *limits,
		     uint64_t space, uint64_t now, struct metrics *metrics);

/* Clock by which windows get old, in seconds since 1970. It is the wall clock, but a wall clock that jumps ahead counts
 * only once it has stayed ahead for a day, or for the age limit if that is less: windows that nobody has sent yet must
 * not go because of a wrong clock that is corrected soon. Until then time goes on from before the jump. Between two
 * runs the clock stands at the newest window. */
struct retention_clock {
	uint64_t trusted, boot; /* result and time since boot (s) of the last call; trusted 0: none yet */
	/* time since boot (s) at which the wall clock was first found ahead of `trusted` plus the time since the last
	 * call; 0: it is not ahead */
	uint64_t ahead_since;
};

/* Returns the time of that clock. wall: wall-clock time; boot: time since boot; newest: stamp of the newest window, 0
 * if there is none; age_s: the age limit; all in seconds. Does no input or output. */
uint64_t retention_now(struct retention_clock *clock, uint64_t wall, uint64_t boot, uint64_t newest, uint64_t age_s);

/* Returns the number of bytes that a file takes on disk; its length if the file system does not report that. */
uint64_t retention_size(const struct stat *status);

/* Returns the free bytes of the file system for users other than root, and in *all its size. If that is unknown:
 * UINT64_MAX, with *all 0. */
uint64_t retention_free(const struct windir *windir, uint64_t *all);
void retention_free_list(struct retention *retention);

#endif
