/* SPDX-License-Identifier: Apache-2.0 */
/*
 * targetfile.h - files of another process, opened so that nothing in its file systems can lead us elsewhere or make us
 * wait.
 *
 * Links that it planted are followed as it would follow them: within its own root, never through /proc/PID/fd and the
 * like. FIFOs and devices are known before they are opened, and refused. A kernel without openat2 (before 5.6) opens
 * nothing.
 */
#ifndef PJ_TARGETFILE_H
#define PJ_TARGETFILE_H

#include "common/str.h"

#include <sys/types.h>

/* The root of a process, for the questions below; -1 and errno. It holds its file system: close it soon. */
int targetfile_root(pid_t pid);

/* A regular file below root, for reading; -1 and errno (EINVAL: it is no regular file). Without links: a symbolic link
 * anywhere in path is refused (ELOOP). */
int targetfile_open(int root, struct str path, bool links);

/* A folder below root, of O_PATH, links followed; -1 and errno. */
int targetfile_folder(int root, struct str path);

/* The regular file that fd, of O_PATH, stands for, for reading; takes fd, also when it fails. fd may be -1. */
int targetfile_reopen(int fd);

/* Does fd stand for a file of /proc, where memory and environment of processes are? */
bool targetfile_is_proc(int fd);

#endif
