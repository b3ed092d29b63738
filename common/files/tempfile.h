/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tempfile.h - creates temporary files with names that no other user can foresee, and removes those that killed runs
 * left.
 *
 * The name is `.` + 16 random hexadecimal digits + `.tmp`. O_EXCL makes sure that the file is new: a symbolic link,
 * hard link, FIFO or device that another user planted is never opened. The file takes its final name by renameat(). Its
 * writer has a lock (flock) on it until the last descriptor is closed, so a sweep distinguishes a file in use from one
 * that a killed run left: keep a descriptor (tempfile_hold) open until the file has its final name. Where the file
 * system has no locks, a sweep removes files without a write for an hour.
 */
#ifndef PJ_TEMPFILE_H
#define PJ_TEMPFILE_H

#include "common/base.h"

#include <sys/types.h>

#define TEMPFILE_NAME 24

/* Creates a new temporary file in `folder` and stores its name in `name`. Returns a descriptor open for writing, or -1
 * with errno. */
int tempfile_create(int folder, mode_t mode, char name[TEMPFILE_NAME]);

/* Returns a second descriptor of a temporary file, which keeps the file's lock after the first one is closed. Close it
 * after the rename. */
int tempfile_hold(int fd);

/* Removes the temporary files in `folder` that no process has locked. */
void tempfile_sweep(int folder);

#endif
