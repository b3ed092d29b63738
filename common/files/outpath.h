/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outpath.h - resolves a path that a tool writes to, and refuses what another user may have planted on the way.
 *
 * In a folder that others can write to (/tmp, a folder of a team) another user can put a symbolic link, a FIFO, a
 * device or a hard link where a tool run by root or by a colleague writes. fs.protected_symlinks and the like stop most
 * of this, but only for paths that the kernel resolves, and they may be off. Here each component is opened with
 * O_NOFOLLOW; a link is followed only if its owner is this user or the owner of its folder, as fs.protected_symlinks
 * has it, but in any folder that group or others can write to, and for each component. Everything else then goes
 * through descriptors, so that swapping an entry meanwhile has no effect.
 *
 * Magic links of procfs (/dev/stdout, /proc/self/fd/3) are left to the kernel.
 */
#ifndef PJ_OUTPATH_H
#define PJ_OUTPATH_H

#include "common/base.h"

#include <sys/stat.h>

struct outpath {
	int folder;       /* O_PATH descriptor of the folder of the last component */
	char *name;       /* last component, no symbolic link unless `magic` */
	int fd;           /* O_PATH descriptor of it; -1: it does not exist */
	struct stat st;   /* of fd */
	char linked[200]; /* target of the last symbolic link that was followed, perhaps cut; empty if there was none */
	bool magic;       /* name is a link of procfs */
	bool shared;      /* users other than its owner can write to the folder */
	char refused[400]; /* the refused entry and the reason, part of a sentence; empty if none is refused */
};

/* Returns false with errno; EPERM and outpath->refused if an entry may have been planted. A last component that does
 * not exist is no failure. Call outpath_close in any case. */
bool outpath_resolve(struct outpath *outpath, const char *path);
void outpath_close(struct outpath *outpath);

/* Opens the existing entry, without truncating it. A FIFO, device or socket in a shared folder must belong to this user
 * or to the owner of the folder; a regular file there must be this user's and have one name. Returns -1 with errno (and
 * outpath->refused). */
int outpath_open(struct outpath *outpath, int flags);

/* Opens a directory to list it and to create files in it; creates it with `mode` if it does not exist and mode is not
 * 0, so that it is still there after a power cut. Returns -1 with errno (and outpath->refused). Call outpath_close. */
int outpath_directory(struct outpath *outpath, const char *path, mode_t mode);

#endif
