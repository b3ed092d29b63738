/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retention.h - the complete windows of DIR and how much they hold, so that limits can be kept: the oldest go first.
 *
 * A list in memory, since a directory of months of windows must not be read for each new one. It is read again when
 * others changed it, but for no more than a thousandth of the time, and before anything is deleted. A window is deleted
 * under its exclusive lock, so one that somebody reads under a shared lock stays; so does the newest, whatever the
 * limits. What is in bad/ goes before what is in out/.
 *
 * The oldest window is the one that was completed first, not the one with the lowest name: names are wall-clock
 * seconds, and after a clock was set back the newest windows have the lowest names. The order is kept in the files'
 * times of modification: kept_stamp() moves that of a new window past those of all others if the clock is behind them.
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
	uint64_t bytes, age_s;               /* 0: none */
	double min_free;                     /* share of the file system; 0: none */
	uint64_t reserve;                    /* bytes that are to be free at least */
	uint64_t (*drop_symbols)(void *arg); /* deletes files that no window needs, returns their bytes; or NULL */
	void *arg;
};

struct retention {
	struct retention_window {
		uint64_t epoch, bytes;
		uint64_t stamp;    /* ns since 1970, greater than that of windows completed before */
		bool bad, expired; /* expired: older than age_s, as of the last kept_limit */
	} * window;                /* bad ones first, then in the order of completion, once sorted */
	size_t n, cap;
	uint64_t windows, bytes; /* of out/ */
	uint64_t bad_windows, bad_bytes;
	bool sorted;
	uint64_t newest;               /* highest stamp in out/ */
	int64_t changed_s, changed_ns; /* out/ as we left it */
	uint64_t polled, look_ns;      /* when, and how long it took */
};

void retention_scan(struct retention *retention,
		    const struct windir *windir); /* reads the folders, unless that would be too often */
void retention_add(struct retention *retention, const struct windir *windir, uint64_t epoch,
		   const struct stat *status); /* just moved to out/ */

/* Sets the time of modification of a window that is about to be moved to out/, if the clock was set back since others
 * were completed. */
void retention_stamp(struct retention *retention, const struct windir *windir, int fd);

/* Deletes until the limits are kept, and until `room` more bytes are free; what was deleted is counted in metrics. now:
 * seconds since 1970. False: there is less room than the limits ask for, and nothing that may be deleted. */
bool retention_limit(struct retention *retention, const struct windir *windir, const struct retention_limits *limits,
		     uint64_t space, uint64_t now, struct metrics *metrics);

/* The time by which windows get old, in seconds since 1970: wall-clock time, but a clock that jumps ahead counts only
 * once it has stayed ahead for a day, or for the age limit if that is less: windows that nobody has sent yet must not
 * go because of a wrong clock that is put right soon. Until then time goes on from before the jump. Between two runs it
 * stands at the newest window. */
struct retention_clock {
	uint64_t trusted, boot; /* of the last call; trusted 0: none yet */
	uint64_t ahead_since;   /* of the clock since boot; 0: the wall clock is not ahead */
};

/* Seconds; newest: stamp of the newest window, 0 if there is none. Pure. */
uint64_t retention_now(struct retention_clock *clock, uint64_t wall, uint64_t boot, uint64_t newest, uint64_t age_s);

uint64_t retention_size(const struct stat *status);                  /* on disk */
uint64_t retention_free(const struct windir *windir, uint64_t *all); /* bytes of the file system for who is not root */
void retention_free_list(struct retention *retention);

#endif
