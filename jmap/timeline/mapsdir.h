/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapsdir.h - creates the directory DIR/maps with safe owners, and deletes old timelines from it (retention).
 *
 * A timeline stays while its JVM lives and for a day afterwards. It also stays as long as DIR/out or DIR/recording has
 * a window that was recorded while the JVM lived. A sweep decides by names and modification times of files; it reads
 * only the first record of timelines. It sets the modification time of a timeline whose JVM lives to the present, so
 * for any other timeline that time is about the end of its JVM. The writer of a timeline holds an exclusive lock
 * (flock); locked timelines stay.
 *
 * All tenants (tenants.h) share the limit of bytes. Beyond it, the sweep removes only timelines of tenants above their
 * fair share, so JVMs of one tenant do not evict timelines of another. The first record of a timeline has its tenant.
 */
#ifndef PJ_MAPSDIR_H
#define PJ_MAPSDIR_H

#include "common/filter/boot.h"
#include "common/process/tenants.h"

#include <sys/types.h>

/* size of a buffer for the name of a timeline in bytes */
#define MAPSDIR_NAME 48
/* time in seconds after the end of its JVM for which a timeline stays even if no window needs it */
#define MAPSDIR_AGE 86400u

/* Creates the spool directory DIR with the mode that pjrecord gives it, because pjrecord may start later. Exits with a
 * message on failure, and if DIR cannot be written to. */
void mapsdir_make(const char *dir);

/* Creates the directory for timelines of this boot. pjmap calls it while it still has the rights to write to a DIR of
 * another user. Ignores errors: opening a timeline reports them. */
void mapsdir_prepare(const char *dir, const char *boot);

/* Opens the directory for timelines of this boot, and creates it if necessary. Returns a descriptor, which the caller
 * closes, or -1 and errno; EPERM means that another user owns a directory of the path. */
int mapsdir_enter(const char *dir, const char *boot);

/* Writes the name of a timeline, PID-START.jmap, to `name`. start: start time of the process in clock ticks since
 * boot. */
void mapsdir_name(char name[MAPSDIR_NAME], pid_t pid, uint64_t start);

/* Result of a sweep of DIR/maps. */
struct mapsdir_swept {
	/* number of removed timelines. unneeded: no window needed them; needed: a window needed them */
	uint64_t unneeded, needed;
	uint64_t bytes;        /* size of the remaining timelines on disk in bytes */
	uint64_t took;         /* duration of the sweep in ns */
	struct tenant largest; /* tenant that held most bytes before the removal; unset if largest_bytes is 0 */
	/* bytes that `largest` held; 0 if the timelines did not exceed the limit */
	uint64_t largest_bytes;
};

/* Removes timelines of JVMs that ended more than MAPSDIR_AGE ago, if no window needs them. If the remaining timelines
 * exceed `max` bytes (0: no limit), also removes timelines of ended JVMs, the oldest first, of unknown tenants and of
 * tenants above their fair share: first those that no window needs, until a tenth of `max` is free, then needed ones,
 * down to `max`. proc: path of the proc file system; boot: id of this boot. To be called regularly. */
struct mapsdir_swept mapsdir_sweep(const char *dir, const char *proc, const char *boot, uint64_t max);

#endif
