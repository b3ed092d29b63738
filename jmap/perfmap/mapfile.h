/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapfile.h - writes a finished map as perf-PID.map, completely or not at all, for the user whose process it describes.
 *
 * This is safe in /tmp, too, where every user may write: a link with that name is replaced, never followed. The map is
 * copied without parsing, because the process that has the necessary capabilities must contain no parser
 * (test/suite/openers.sh).
 */
#ifndef PJ_MAPFILE_H
#define PJ_MAPFILE_H

#include "common/process/taskid.h"

/* Copies the first n bytes of file descriptor `from` to the file dir/name, with mode 0600 and this owner, because no
 * other user may read the memory of the owner's process. Without CAP_CHOWN the file belongs to the caller. durable: the
 * file survives a crash of the machine. Returns NULL, or for a message the step that failed (errno). */
const char *mapfile_put(const char *dir, const char *name, int from, uint64_t n, const struct taskid_user *owner,
			bool durable);

#endif
