/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostmounts.h - distinguishes files of local file systems from those that a tenant, or another host, serves.
 *
 * FUSE and network file systems may never answer a read. Anybody can mount FUSE, and an overlay whose layers are FUSE,
 * in a user namespace of his own. So an overlay is local only if it is in the mount namespace of this process or of
 * init, where only root of the host can mount. Overlays of container engines that run as root are there.
 *
 * The type of a file system is that of its mount in /proc/PID/mountinfo, which the kernel writes without the file
 * system. fstatfs() sends a request to the file system, and may wait for ever.
 */
#ifndef PJ_HOSTMOUNTS_H
#define PJ_HOSTMOUNTS_H

#include "common/str.h"

/* A mount. The strings are parts of the text. */
struct hostmount {
	struct str device; /* "MAJOR:MINOR" */
	struct str type;   /* type of the file system, such as "ext4" or "fuse.sshfs" */
};

/* Returns true if the file of fd, which may be an O_PATH descriptor, is on a local file system: on a disk or in memory
 * of this host, served by the kernel alone. Its mount is searched in the mount namespaces of this process, of init and
 * of process pid, which has mapped the file. If none of them has it, a mount of the same device in the namespace of
 * this process or of init decides. Returns false if there is no such mount, or on failure. */
bool hostmounts_is_local(int fd, uint32_t pid);

/* Finds a mount in the text of /proc/PID/mountinfo by its id, or, if id is NULL, by mount->device, and fills *mount.
 * Returns false if there is none. */
bool hostmounts_find(struct str mountinfo, const struct str *id, struct hostmount *mount);

/* Returns true for a type of file system that is local. An overlay is not: its layers may be of any type. */
bool hostmounts_is_local_type(struct str type);

#endif
