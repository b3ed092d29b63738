/* SPDX-License-Identifier: Apache-2.0 */
/*
 * targetfile.h - opens files of a target process so that nothing in its file systems can lead pj to other files or make
 * it wait.
 *
 * Links that it planted are followed as it would follow them: within its own root, never through /proc/PID/fd and the
 * like. FIFOs and devices are known before they are opened, and refused. A kernel without openat2 (before 5.6) opens
 * nothing.
 */
#ifndef PJ_TARGETFILE_H
#define PJ_TARGETFILE_H

#include "common/str.h"

#include <sys/types.h>

/* Opens the root directory of process pid, for the functions below. Returns an O_PATH descriptor, or -1 with errno. The
 * descriptor keeps the file system mounted: close it soon. */
int targetfile_root(pid_t pid);

/* Opens a regular file below root for reading. Returns -1 with errno on failure; EINVAL if it is no regular file.
 * Without `links`, a symbolic link in any component of path is refused (ELOOP). */
int targetfile_open(int root, struct str path, bool links);

/* Opens a folder below root with O_PATH, and follows links. Returns -1 with errno on failure. */
int targetfile_folder(int root, struct str path);

/* Opens for reading the regular file to which fd, an O_PATH descriptor or -1, refers. Closes fd in each case. Returns
 * -1 with errno on failure; EINVAL if the file is not regular. */
int targetfile_reopen(int fd);

/* Returns true if fd is a file of procfs, which can contain memory and environments of processes. */
bool targetfile_is_proc(int fd);

/* Returns true if fd is the file that a mapping shows with this device and inode. A mapping of a file in an overlay has
 * those of the layer, but stat returns the device of the overlay, and possibly the number of the layer in the upper
 * bits of the inode: the lower 48 bits decide. Subvolumes of btrfs have devices that mappings do not have. */
bool targetfile_is(int fd, uint32_t device_major, uint32_t device_minor, uint64_t inode);

#endif
