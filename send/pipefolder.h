/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipefolder.h - temporary directory for the spool of `pjsend -` (window from a pipe).
 *
 * The directory is TMPDIR/pjsend.XXXXXX with a lock file `from-pipe`, which the process that uses the directory holds
 * (flock). The directory is removed as soon as it has no window: by pjsend at its end, or by the `pjsend --once DIR`
 * that sends the window later. If pjsend was killed, the next pjsend that makes such a directory removes it. A
 * directory with a window, or with any file of another name, is never removed.
 */
#ifndef PJ_PIPEFOLDER_H
#define PJ_PIPEFOLDER_H

#include "common/base.h"

/* Creates a temporary directory and writes its path to `path`, a buffer of `space` bytes. Before that, removes
 * directories without windows that killed processes of this user left in TMPDIR. Returns the descriptor that holds the
 * lock; -1 with errno on failure: EAGAIN if other processes removed each of 16 new directories. */
int pipefolder_make(char *path, size_t space);

/* Removes a directory made by pipefolder_make, unless it has a window or another process uses it. lock: the descriptor
 * that pipefolder_make returned, which this function closes; -1 if another process made the directory. */
void pipefolder_remove(const char *path, int lock);

#endif
