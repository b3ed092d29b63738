/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipefolder.h - the temporary directory with the spool of a window that comes from a pipe.
 *
 * It is TMPDIR/pjsend.XXXXXX with a file `from-pipe`, which the process that uses it has locked (flock). It is removed
 * as soon as it has no window: by pjsend at its end, by the `pjsend --once` that sends its window later, and, if pjsend
 * was killed, by the next pjsend that makes one. A directory with a window, or with any file of another name, stays.
 */
#ifndef PJ_PIPEFOLDER_H
#define PJ_PIPEFOLDER_H

#include "common/base.h"

/* Removes directories without windows that killed processes of this user left in TMPDIR, and makes a new one. Writes
 * its path to `path`, of `space` bytes. Returns the descriptor that holds the lock; -1 with errno. */
int pipefolder_make(char *path, size_t space);

/* Removes the directory if it was made by pipefolder_make, no other process uses it, and it has no window. lock: the
 * descriptor of pipefolder_make, which it closes; -1: the directory is that of another process. */
void pipefolder_remove(const char *path, int lock);

#endif
