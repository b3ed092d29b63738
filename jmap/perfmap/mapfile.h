/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapfile.h - writes a map to perf-PID.map, completely or not at all, as a file of the user whose process the map
 * describes.
 *
 * This is safe in /tmp, where every user may write: an existing link of that name is replaced, never followed. The map
 * is copied without parsing, because the process with the necessary capabilities must contain no parser
 * (test/suite/openers.sh).
 */
#ifndef PJ_MAPFILE_H
#define PJ_MAPFILE_H

#include "common/process/taskid.h"

/* Copies the first n bytes of descriptor `from` to the file dir/name. The file belongs to `owner` and has mode 0600,
 * because no other user may read the memory of that user's process. Without CAP_CHOWN the file belongs to the caller.
 * durable: true if the file must survive a crash of the machine. Returns NULL on success, or the step that failed, for
 * a message, and errno. */
const char *mapfile_put(const char *dir, const char *name, int from, uint64_t n, const struct taskid_user *owner,
			bool durable);

#endif
