/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fileopener.h - opens files by paths that recordings and processes name, without waiting for file systems that do not
 * answer.
 *
 * A FUSE or network file system may never answer, and a process that waits for it may not even be ended by SIGKILL. So
 * a helper process opens: pjfold waits for it for FILEOPENER_MS, then leaves it behind, starts another one, and skips
 * that file (of another mount namespace: all of its files; of a directory with three such files: all of them). After
 * three such waits the next ones are shorter. Files of local file systems come back as descriptors. Reading can block
 * as well, so files of others (FUSE, network, overlays of another mount namespace) are copied into memory by the
 * helper, and waited for as long as the copy makes progress.
 *
 * One helper for the process; threads may call at the same time. Helpers parse nothing: what they open is parsed by
 * pjfold, which gave its rights up. They keep the system calls of SANDBOX_ROOTS (sandbox.h). (Landlock forbids pjfold
 * /proc/PID/root of any other process.)
 */
#ifndef PJ_FILEOPENER_H
#define PJ_FILEOPENER_H

#include "common/str.h"

#include <sys/types.h>

enum { FILEOPENER_MS = 2000 };

/* Starts the process from which helpers are forked; to be called before rights are given up (confine.h), which helpers
 * need: without it, they have those of the caller at its first call. unprivileged: they give up all capabilities. */
void fileopener_start(bool unprivileged);

/* Each returns a descriptor of a regular file, read-only not in /proc, or -1 and errno: ETIMEDOUT if its file
 * system does not answer. */
int fileopener_path(const char *path);                 /* links are followed */
int fileopener_plain(const char *path);                /* the last component is no link */
int fileopener_inside(pid_t pid, struct str path);     /* below the root of a process; links are followed within it */
int fileopener_map_inside(pid_t pid, struct str path); /* the same; the descriptor's owner is the file's */
int fileopener_stat(pid_t pid); /* a copy of /proc/PID/stat, whose readers a process can make wait for ever */

/* Files that were skipped, as their file systems do not answer. */
unsigned fileopener_skipped(void);

#endif
