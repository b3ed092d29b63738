/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retention.h - deletes the oldest complete windows of DIR beyond the limits of size, age and free space.
 *
 * DIR may hold months of windows, so a list in memory avoids reading the folders for each new window. The folders are
 * read again before a deletion. They are read after changes by other processes, too, but such readings may use at most
 * 1/1000 of the time. A window is deleted under its exclusive lock, so a window that a reader holds with a shared lock
 * stays. The newest window stays whatever the limits are. Windows in bad/ are deleted before those in out/.
 *
 * The oldest window is the one that was completed first, not the one with the lowest name. Names are wall-clock
 * seconds, and after the clock was set back the newest windows have the lowest names. The modification times of the
 * files store the order: if the clock is earlier than the times of existing windows, retention_stamp() moves the time
 * of a new window after them.
 *
 * If the file system is too full, first the files in symbols/ and jit/ that no window needs are deleted, then windows.
 * After 1, 2, 4, 8, ... deleted windows, the files in symbols/ and jit/ that only deleted windows needed are deleted,
 * too.
 */
#ifndef PJ_RETENTION_H
#define PJ_RETENTION_H

#include "record/windows/metrics.h"
#include "record/windows/windir.h"

#include <sys/stat.h>

struct retention_limits {
	/* bytes: limit of the sum of all windows in out/ and bad/, in bytes. age_s: limit of the age of each window, in
	 * s. 0: no limit. */
	uint64_t bytes, age_s;
	/* Share of the file system's size that must stay free, 0 to 1; 0: no limit. */
	double min_free;
	/* Number of bytes that must stay free in the file system, even if min_free requires less. */
	uint64_t reserve;
	/* Deletes files in symbols/ and jit/ that no window needs, and returns the number of freed bytes. NULL: these
	 * files are not deleted. */
	uint64_t (*drop_symbols)(void *arg);
	void *arg;
};

struct retention {
	struct retention_window {
		/* epoch: name of the window, s since 1970; bytes: size of the window on disk in bytes */
		uint64_t epoch, bytes;
		/* modification time of the window's file in ns since 1970; later than the time of each window that was
		 * completed before */
		uint64_t stamp;
		/* bad: true: the window is in bad/; false: in out/. expired: true: it was older than age_s at the last
		 * retention_limit. */
		bool bad, expired;
		/* list of all windows in bad/ and out/; if `sorted`: first those in bad/, then those in out/, both in
		 * order of completion */
	} * window;
	size_t n, cap;
	uint64_t windows, bytes; /* number and bytes of the windows in out/ */
	/* number and bytes of the windows in bad/ */
	uint64_t bad_windows, bad_bytes;
	bool sorted;
	uint64_t newest; /* largest stamp of a window in out/, in ns since 1970; 0: no window */
	/* modification time of out/ (s since 1970, and ns) after its last change by this process */
	int64_t changed_s, changed_ns;
	/* polled: time at which the folders were last read, in ns of clock_now(); 0: never. look_ns: duration of that
	 * reading in ns. */
	uint64_t polled, look_ns;
};

/* Reads the folders bad/ and out/ again if another process has changed out/. Skips the reading if the time since the
 * last reading is less than 1000 times (LOOK_SHARE) its duration. */
void retention_scan(struct retention *retention, const struct windir *windir);

/* To be called after the window `epoch` was moved to out/: adds it to the list. status: status of the window's file. */
void retention_add(struct retention *retention, const struct windir *windir, uint64_t epoch, const struct stat *status);

/* To be called before a window is moved to out/. If its modification time is not later than those of all windows in
 * out/, because the clock was set back, sets it to a later time. fd: descriptor of the window. */
void retention_stamp(struct retention *retention, const struct windir *windir, int fd);

/* Deletes windows until all limits hold and `space` more bytes are free, or no more windows may be deleted. Adds the
 * deletions to metrics. now: result of retention_now. Returns false if less space is free than the limits and `space`
 * require, otherwise true, even if readers hold windows beyond the limits of bytes or age. */
bool retention_limit(struct retention *retention, const struct windir *windir, const struct retention_limits *limits,
		     uint64_t space, uint64_t now, struct metrics *metrics);

/* Clock for the age of windows, in s since 1970. It is the wall clock, with one exception. If the wall clock jumps
 * ahead, this clock continues from before the jump. It does so until the wall clock has been ahead for a day, or for
 * the age limit if that is shorter. The reason: a wrong clock that is soon corrected must not delete windows that no
 * process has sent yet. At its first call in a run the clock starts at the time of the newest window, unless that is in
 * the future. */
struct retention_clock {
	/* trusted: result of the last call of retention_now, in s since 1970; 0: not called yet. boot: time of that
	 * call in s since boot. */
	uint64_t trusted, boot;
	/* time in s since boot at which the wall clock was first found ahead of the expected time; 0: it is not
	 * ahead */
	uint64_t ahead_since;
};

/* Returns the time of the clock for the age of windows, in s since 1970, and updates *clock. wall: wall-clock time, s
 * since 1970. boot: s since boot. newest: stamp of the newest window, s since 1970; 0: no window. age_s: age limit in
 * s. Pure: no input or output. */
uint64_t retention_now(struct retention_clock *clock, uint64_t wall, uint64_t boot, uint64_t newest, uint64_t age_s);

/* Returns the number of bytes that a file occupies on disk; its length if the file system reports 0 blocks. */
uint64_t retention_size(const struct stat *status);

/* Returns the number of bytes of DIR's file system that are free for users other than root, and sets *all to the size
 * of the file system in bytes. If they are unknown, returns UINT64_MAX and sets *all to 0. */
uint64_t retention_free(const struct windir *windir, uint64_t *all);
void retention_free_list(struct retention *retention);

#endif
