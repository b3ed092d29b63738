/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tempfile.h - creates temporary files with names that other users cannot predict, and removes files that killed
 * processes left.
 *
 * The name is `.` + 16 random hexadecimal digits + `.tmp`. O_EXCL ensures that the file is new: a symbolic link, hard
 * link, FIFO or device that another user planted is never opened. renameat() gives the file its final name. The file is
 * locked (flock) until its last descriptor is closed: a sweep removes only files without a lock, which killed processes
 * left. So the writer keeps a descriptor open (tempfile_hold) until the file has its final name. On a file system
 * without locks, a sweep removes files that were not written for an hour.
 */
#ifndef PJ_TEMPFILE_H
#define PJ_TEMPFILE_H

#include "common/base.h"

#include <sys/types.h>

#define TEMPFILE_NAME 24

/* Creates and locks a new temporary file with this mode in `folder`, and stores its name in `name`. Returns a
 * descriptor open for writing, or -1 with errno. */
int tempfile_create(int folder, mode_t mode, char name[TEMPFILE_NAME]);

/* Returns a second descriptor of a temporary file. It keeps the file locked after the first one is closed; the caller
 * closes it after the rename. */
int tempfile_hold(int fd);

/* Removes the temporary files in `folder` that killed processes left: those that no process has locked. */
void tempfile_sweep(int folder);

#endif
