/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fileopener.h - opens files by paths from recordings and processes, without waiting for file systems that do not
 * respond.
 *
 * A FUSE or network file system may never respond, and SIGKILL may not end a process that waits for it. So a helper
 * process opens the files: pjfold waits FILEOPENER_MS, then abandons the helper, starts another one, and skips that
 * file (of another mount namespace: all of its files; of a directory with three such files: all of them). After three
 * such waits the next ones are shorter. Files of local file systems come back as descriptors. Reads can block, too, so
 * the helper copies files of other file systems (FUSE, network, overlays of another mount namespace) into memory;
 * pjfold waits while the copy makes progress, FILEOPENER_FILE_MS for a file, FILEOPENER_PROCESS_MS for all files of a
 * process and FILEOPENER_ALL_MS for all files at most: a server may send one block every two seconds. A file that takes
 * longer counts as one that does not respond.
 *
 * One helper serves the process; threads may call at the same time. Helpers parse nothing: pjfold, which has dropped
 * its rights, parses the files. They may use the system calls of SANDBOX_ROOTS (sandbox.h). (Landlock denies pjfold
 * /proc/PID/root of any other process.)
 */
#ifndef PJ_FILEOPENER_H
#define PJ_FILEOPENER_H

#include "common/formats/fileid.h"
#include "common/str.h"

#include <sys/types.h>

enum { FILEOPENER_MS = 2000, FILEOPENER_FILE_MS = 20000, FILEOPENER_PROCESS_MS = 40000, FILEOPENER_ALL_MS = 240000 };

/* Time that pjfold waited for files of one process, in ns, and number of its files that were skipped or given up. */
struct fileopener_wait {
	int32_t pid;
	unsigned skipped;
	uint64_t ns;
};

/* Starts the process that forks helpers. Call it before rights are dropped (confine.h), since helpers need these
 * rights. Without this call helpers have the rights of the caller at its first request. unprivileged: they drop all
 * capabilities. */
void fileopener_start(bool unprivileged);

/* Each returns a read-only descriptor of a regular file, or -1 and errno: ETIMEDOUT if its file system does not
 * respond. */

/* Opens a path; links are followed. */
int fileopener_path(const char *path);
/* Opens the file at a path, below the root of process pid unless that is 0, if it is shown to be the file `id` of a
 * mapping that was recorded before `until` (wall clock, ns; 0: unknown). errno is ESTALE if it has another device or
 * inode, or if pid is 0 and it was written or made after `until`: it may have the inode of a deleted file. The mapping
 * of a living process prevents that. Inode 0 (a plain PERF_RECORD_MMAP): the times alone decide, also below the root of
 * a process; without `until` any file below that root is accepted, and none if pid is 0 (ENODATA). */
int fileopener_mapped(pid_t pid, struct str path, const struct file_id *id, uint64_t until);
/* Opens a path; fails if the last component is a link. */
int fileopener_plain(const char *path);
/* Opens a path below the root of a process; links are followed within that root. */
int fileopener_inside(pid_t pid, struct str path);
/* As fileopener_inside; fstat of the result returns the owner of the file. */
int fileopener_map_inside(pid_t pid, struct str path);
/* Opens a copy of /proc/PID/stat: a process can block readers of the original for ever. */
int fileopener_stat(pid_t pid);

/* Returns the number of files skipped because their file systems do not respond. */
unsigned fileopener_skipped(void);

/* Fills waits with the processes with skipped files, the longest wait first, and returns their number, `max` at most.
 * Of many processes it may lack some. */
size_t fileopener_waits(struct fileopener_wait *waits, size_t max);

#endif
