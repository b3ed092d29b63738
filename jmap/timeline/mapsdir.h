/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapsdir.h - DIR/maps as files: folders that are ours, and which timelines may go.
 *
 * A timeline is needed as long as its JVM lives, a day longer, and as long as a window in DIR/out or DIR/recording was
 * recorded while its JVM lived. What tells is in names and times of modification alone, whoever wrote them: a timeline
 * whose JVM lives gets the time of each sweep, so that of a dead one tells when it died. Who writes a timeline holds
 * its exclusive lock (flock); one that is locked stays.
 *
 * All tenants (tenants.h) share the limit of bytes: beyond it only timelines of tenants that hold more than a common
 * level go, so JVMs of one tenant evict no timelines of another. A timeline's first record names its tenant.
 */
#ifndef PJ_MAPSDIR_H
#define PJ_MAPSDIR_H

#include "common/filter/boot.h"
#include "common/process/tenants.h"

#include <sys/types.h>

#define MAPSDIR_NAME 48
#define MAPSDIR_AGE 86400u /* s: for that long a timeline stays that nothing needs */

/* Makes DIR, as pjrecord does, which may come later; dies if that fails. */
void mapsdir_make(const char *dir);

/* Makes the folder of this boot's timelines while we still may write into a DIR of another user. What fails here is
 * said when a timeline is opened. */
void mapsdir_prepare(const char *dir, const char *boot);

/* The folder of this boot's timelines, made when need be: a descriptor; -1 and errno (EPERM: a folder on the way is
 * somebody else's). */
int mapsdir_enter(const char *dir, const char *boot);

void mapsdir_name(char name[MAPSDIR_NAME], pid_t pid, uint64_t start);

struct mapsdir_swept {
	uint64_t unneeded, needed; /* timelines that were removed; of the latter windows still have samples */
	uint64_t bytes;            /* on disk, of all that are left */
	uint64_t took;             /* ns */
	struct tenant largest;     /* that holds most bytes, */
	uint64_t largest_bytes;    /*   before any were removed; 0: there are no timelines */
};

/* Removes what is no longer needed, and then, beyond `most` bytes (0: no limit), the oldest until a tenth is free:
 * those that no window needs, then those that one needs, of tenants over their share. proc: "/proc". */
struct mapsdir_swept mapsdir_sweep(const char *dir, const char *proc, const char *boot, uint64_t max);

#endif
