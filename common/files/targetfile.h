/* SPDX-License-Identifier: Apache-2.0 */
/*
 * targetfile.h - opens files of a target process so that no symbolic link, FIFO or device in its file systems can lead
 * pj to other files or make pj wait. A file system that does not respond (FUSE) still can make pj wait: callers use
 * helper processes.
 *
 * Symbolic links of the target are resolved as the target itself would resolve them: within its own root, and never
 * through magic links such as /proc/PID/fd/N. FIFOs and devices are recognized before they are opened, and refused. On
 * kernels without openat2 (before 5.6) every open fails.
 */
#ifndef PJ_TARGETFILE_H
#define PJ_TARGETFILE_H

#include "common/str.h"

#include <sys/types.h>

/* Returns an O_PATH descriptor of the root directory of process pid, for the other functions of this module; -1 with
 * errno on failure. The descriptor keeps the file system mounted, so the caller should close it soon. */
int targetfile_root(pid_t pid);

/* Opens the regular file `path` below root for reading. Returns -1 with errno on failure, EINVAL if the file is not
 * regular. If `links` is false, a symbolic link in any component is refused (ELOOP). */
int targetfile_open(int root, struct str path, bool links);

/* Opens the folder `path` below root with O_PATH, and follows symbolic links. Returns -1 with errno on failure. */
int targetfile_folder(int root, struct str path);

/* Returns a descriptor open for reading of the regular file to which fd, an O_PATH descriptor, refers. Closes fd in
 * each case. Returns -1 with errno on failure, EINVAL if the file is not regular; fd may be -1. */
int targetfile_reopen(int fd);

/* Returns an O_PATH descriptor of the file `path` below root, and follows symbolic links; -1 with errno on failure. */
int targetfile_locate(int root, struct str path);

/* Return true if fd is a file of btrfs, or of procfs. Files of procfs can contain the memory and environment of
 * processes. */
bool targetfile_is_btrfs(int fd);
bool targetfile_is_proc(int fd);

/* Returns true if fd is the file that a mapping shows with this device and inode. On overlayfs, a mapping shows device
 * and inode of the file in its layer, but stat returns the device of the overlay, and possibly the number of the layer
 * in the upper bits of the inode: so only the lower 48 bits of the inode are compared. On btrfs, stat returns the
 * device of the subvolume, which mappings do not show: so only the inode is compared. */
bool targetfile_is(int fd, uint32_t device_major, uint32_t device_minor, uint64_t inode);

#endif
