/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fileopener.h - opens files by paths from recordings and processes, and does not wait for file systems that do not
 * respond.
 *
 * A FUSE or network file system may never respond, and SIGKILL may not end a process that waits for it. A helper
 * process therefore opens the files. If it does not reply in FILEOPENER_MS, pjfold abandons it, starts another helper,
 * and skips this file. If the file is in another mount namespace, pjfold then skips all files of that namespace; if it
 * is the third file of a directory that does not respond, pjfold skips all files of this directory. After three waits
 * without a reply, the next waits are shorter (100 ms).
 *
 * The helper returns descriptors for files of local file systems. Reads of other files (FUSE, network, overlays of
 * another mount namespace) can block, too, so the helper copies these files into memory. pjfold waits as long as the
 * copy makes progress, but not longer than FILEOPENER_FILE_MS for a file, FILEOPENER_PROCESS_MS for all files of a
 * process and FILEOPENER_ALL_MS for all files: a server may send one block every two seconds. A file that takes longer
 * is treated like a file that does not respond.
 *
 * There is one helper at a time; threads may call these functions at the same time. Helpers parse nothing: pjfold
 * parses the files after it has dropped its rights. Helpers may use the system calls of SANDBOX_ROOTS (sandbox.h).
 * pjfold itself could not open these files: Landlock denies pjfold the paths below /proc/PID/root of other processes.
 */
#ifndef PJ_FILEOPENER_H
#define PJ_FILEOPENER_H

#include "common/formats/fileid.h"
#include "common/str.h"

#include <sys/types.h>

enum { FILEOPENER_MS = 2000, FILEOPENER_FILE_MS = 20000, FILEOPENER_PROCESS_MS = 40000, FILEOPENER_ALL_MS = 240000 };

/* Files of one process. skipped: number of files that were skipped or given up. ns: time in ns for which pjfold waited
 * for files of the process. */
struct fileopener_wait {
	int32_t pid;
	unsigned skipped;
	uint64_t ns;
};

/* Starts the process that forks helpers. Call it before rights are dropped (confine.h), because helpers keep the rights
 * that the process has now. Without this call, helpers have the rights that the caller has at its first request.
 * unprivileged: true: helpers have no capabilities. */
void fileopener_start(bool unprivileged);

/* The functions from here to fileopener_stat() return a read-only descriptor of a regular file, or -1 with errno. errno
 * is ETIMEDOUT if the file system does not respond. */

/* Opens the file at a path, and follows symbolic links. */
int fileopener_path(const char *path);
/* Opens the file at a path if it is shown to be the file `id` of a mapping. pid: process below whose root the path is;
 * 0: pjfold's own root. until: time at which the mapping was recorded (wall clock, ns); 0: unknown. errno is ESTALE if
 * the file has another device or inode. With pid 0 it is ESTALE, too, if the file was written or created after `until`:
 * it may have the inode of a deleted file. This cannot happen below the root of a living process, whose mapping holds
 * the inode. If `id` has inode 0 (a plain PERF_RECORD_MMAP), the times alone decide, also below the root of a process.
 * If `until` is unknown, too, any file below the root of a process is accepted, and with pid 0 none (ENODATA). */
int fileopener_mapped(pid_t pid, struct str path, const struct file_id *id, uint64_t until);
/* Opens the file at a path; fails if the last component of the path is a symbolic link. */
int fileopener_plain(const char *path);
/* Opens the file at a path below the root of a process; symbolic links are followed within that root. */
int fileopener_inside(pid_t pid, struct str path);
/* Opens a path below the root of a process, like fileopener_inside(). If the result is a copy, fstat() on it returns
 * the owner of the file. */
int fileopener_map_inside(pid_t pid, struct str path);
/* Opens a copy of /proc/PID/stat: a process can block readers of the original file for ever. */
int fileopener_stat(pid_t pid);

/* Returns the number of files that were skipped or given up because their file systems do not respond. */
unsigned fileopener_skipped(void);

/* Fills `waits` with up to `max` processes that have skipped files, the longest wait first. Returns the number of
 * elements. If two processes have the same pid modulo the size of the table, the earlier process is missing. */
size_t fileopener_waits(struct fileopener_wait *waits, size_t max);

#endif
