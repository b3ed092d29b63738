/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outpath.h - resolves a path that a tool writes to, and refuses entries that another user may have planted on the way.
 *
 * In a folder that others can write to (/tmp, a folder of a team), another user can put a symbolic link, FIFO, device
 * or hard link at a path to which a tool of root or of a colleague writes. The sysctl fs.protected_symlinks and its
 * relatives prevent most of this, but only for paths that the kernel resolves, and they may be off. So this module
 * opens each component with O_NOFOLLOW. In a folder that its group or others can write to, it follows a link only if
 * the link's owner is this user or the owner of the folder. That is the rule of fs.protected_symlinks, but for all such
 * folders, not only sticky ones, and for each component. All later steps use descriptors, so that replacing an entry
 * meanwhile has no effect.
 *
 * Magic links of procfs (/dev/stdout, /proc/self/fd/3) are left to the kernel.
 */
#ifndef PJ_OUTPATH_H
#define PJ_OUTPATH_H

#include "common/base.h"

#include <sys/stat.h>

struct outpath {
	int folder;     /* O_PATH descriptor of the folder that contains the last component */
	char *name;     /* last component of the path; a symbolic link only if `magic` */
	int fd;         /* O_PATH descriptor of the last component; -1 if it does not exist */
	struct stat st; /* status of the last component; valid if fd is not -1 */
	/* Target of the symbolic link that was followed last, perhaps cut off; empty if none was followed. */
	char linked[200];
	bool magic;  /* true if the last component is a magic link of procfs */
	bool shared; /* true if the group or other users can write to the folder */
	/* Name of the refused entry and the reason, as part of a sentence; empty if no entry was refused. */
	char refused[400];
};

/* Resolves path into *outpath. Returns false with errno; EPERM with outpath->refused if another user may have planted
 * an entry. Succeeds even if the last component does not exist. The caller calls outpath_close in each case. */
bool outpath_resolve(struct outpath *outpath, const char *path);
void outpath_close(struct outpath *outpath);

/* Returns advice, as the end of a message, for a path that cannot be resolved, created or opened because of this
 * errno. */
const char *outpath_advice(int error);

/* Opens the existing entry of a resolved path, without truncating it. flags: as for open(). In a shared folder, a FIFO,
 * device or socket must belong to this user or to the owner of the folder; a regular file must belong to this user and
 * have no second hard link. Returns -1 with errno; EPERM with outpath->refused for an entry that breaks these rules. */
int outpath_open(struct outpath *outpath, int flags);

/* Resolves and opens a directory, for listing it and creating files in it. If it does not exist and mode is not 0,
 * creates it with this mode and syncs its parent folder. Returns -1 with errno; EPERM with outpath->refused for an
 * entry that breaks the rules of this module. The caller calls outpath_close. */
int outpath_directory(struct outpath *outpath, const char *path, mode_t mode);

#endif
