/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapsdir.h - the directory DIR/maps: creation with safe owners, and retention of timelines.
 *
 * A timeline stays while its JVM lives and for a day afterwards, and as long as DIR/out or DIR/recording has a window
 * that was recorded while the JVM lived. The sweep uses only names and modification times of files: it sets the
 * modification time of a timeline whose JVM lives, so that the time of any other timeline is that of its JVM's end. The
 * writer of a timeline holds an exclusive lock (flock); locked timelines stay.
 *
 * All tenants (tenants.h) share the limit of bytes. Beyond it, only timelines of tenants above their fair share are
 * removed, so JVMs of one tenant do not evict timelines of another. The first record of a timeline has its tenant.
 */
#ifndef PJ_MAPSDIR_H
#define PJ_MAPSDIR_H

#include "common/filter/boot.h"
#include "common/process/tenants.h"

#include <sys/types.h>

/* size of a buffer for the name of a timeline, in bytes */
#define MAPSDIR_NAME 48
/* time in seconds for which a timeline that no window needs stays after its JVM has ended */
#define MAPSDIR_AGE 86400u

/* Creates the spool directory DIR in the way of pjrecord, which may start later. Exits with a message on failure. */
void mapsdir_make(const char *dir);

/* Creates the directory for timelines of this boot, while pjmap still has the rights to write into a DIR of another
 * user. Does not report errors: opening a timeline reports them. */
void mapsdir_prepare(const char *dir, const char *boot);

/* Opens the directory for timelines of this boot, and creates it if necessary. Returns a descriptor, which the caller
 * closes, or -1 with errno. EPERM: another user owns a directory of the path. */
int mapsdir_enter(const char *dir, const char *boot);

/* Writes the name of a timeline, PID-START.jmap, to name. */
void mapsdir_name(char name[MAPSDIR_NAME], pid_t pid, uint64_t start);

/* Result of a sweep of DIR/maps. */
struct mapsdir_swept {
	/* number of removed timelines: those that no window needs; those that some window needs */
	uint64_t unneeded, needed;
	uint64_t bytes;        /* size of the remaining timelines on disk, in bytes */
	uint64_t took;         /* duration of the sweep, in ns */
	struct tenant largest; /* tenant that held most bytes before the removal */
	/* bytes of that tenant; 0: there are no timelines, or they did not exceed the limit */
	uint64_t largest_bytes;
};

/* Removes timelines that no window needs of JVMs that ended more than MAPSDIR_AGE ago. If the remaining ones exceed
 * `max` bytes (0: no limit), also removes the oldest ones of tenants above their fair share: first those that no window
 * needs, until a tenth of max is free, then needed ones, down to max. proc is "/proc". Call it regularly. */
struct mapsdir_swept mapsdir_sweep(const char *dir, const char *proc, const char *boot, uint64_t max);

#endif
