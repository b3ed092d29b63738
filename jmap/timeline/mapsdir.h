/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapsdir.h - the directory DIR/maps: creation with safe owners, and retention of timelines.
 *
 * A timeline is needed as long as its JVM lives, a day longer, and as long as a window in DIR/out or DIR/recording was
 * recorded while its JVM lived. The sweep uses names and modification times alone, regardless of the writer: it sets
 * the time of a timeline whose JVM lives, so that the time of another one is that of the JVM's end. The writer of a
 * timeline holds its exclusive lock (flock); locked timelines stay.
 *
 * All tenants (tenants.h) share the limit of bytes. Beyond it, only timelines of tenants above their fair share are
 * removed, so JVMs of one tenant do not evict timelines of another. The first record of a timeline has its tenant.
 */
#ifndef PJ_MAPSDIR_H
#define PJ_MAPSDIR_H

#include "common/filter/boot.h"
#include "common/process/tenants.h"

#include <sys/types.h>

/* Size of a buffer for the name of a timeline. */
#define MAPSDIR_NAME 48
#define MAPSDIR_AGE 86400u /* s: time for which an unneeded timeline stays */

/* Creates DIR as pjrecord does, which may start later. Ends the program on failure. */
void mapsdir_make(const char *dir);

/* Creates the directory of this boot's timelines while the process still has the rights to write into another user's
 * DIR. Errors are reported later, when a timeline is opened. */
void mapsdir_prepare(const char *dir, const char *boot);

/* Opens the directory of this boot's timelines and creates it if necessary. Returns a descriptor, which the caller
 * closes, or -1 with errno; EPERM: another user owns a directory of the path. */
int mapsdir_enter(const char *dir, const char *boot);

/* Writes the name of a timeline, PID-START.jmap. */
void mapsdir_name(char name[MAPSDIR_NAME], pid_t pid, uint64_t start);

/* Result of a sweep. */
struct mapsdir_swept {
	uint64_t unneeded, needed; /* timelines that were removed: those without windows, and those with windows that
				      still have samples of the JVM */
	uint64_t bytes;            /* on disk, of the remaining timelines */
	uint64_t took;             /* ns */
	struct tenant largest;     /* tenant with most bytes before the removal, */
	uint64_t largest_bytes;    /* bytes of that tenant; 0: there are no timelines */
};

/* Removes unneeded timelines. Beyond max bytes (0: no limit), also removes the oldest timelines of tenants above their
 * share: first those that no window needs, until a tenth of max is free, then needed ones, down to max. proc is
 * "/proc". The caller calls it regularly. */
struct mapsdir_swept mapsdir_sweep(const char *dir, const char *proc, const char *boot, uint64_t max);

#endif
