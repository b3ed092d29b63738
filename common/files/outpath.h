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
	int folder;     /* O_PATH descriptor of the folder that contains the last component */
	char *name;     /* last component of the path; a symbolic link only if `magic` */
	int fd;         /* O_PATH descriptor of the last component; -1 if it does not exist */
	struct stat st; /* status of fd */
	/* Target of the last symbolic link that was followed, perhaps cut off; empty if there was none. */
	char linked[200];
	bool magic;  /* true if the last component is a magic link of procfs */
	bool shared; /* true if the group or other users can write to the folder */
	/* Part of a sentence with the refused entry and the reason; empty if no entry was refused. */
	char refused[400];
};

/* Resolves path into *outpath. Returns false with errno; with EPERM and outpath->refused if another user may have
 * planted an entry. A last component that does not exist is no failure. The caller calls outpath_close in both
 * cases. */
bool outpath_resolve(struct outpath *outpath, const char *path);
void outpath_close(struct outpath *outpath);

/* Opens the existing entry of a resolved path, without truncating it. A FIFO, device or socket in a shared folder must
 * belong to this user or to the owner of the folder; a regular file there must belong to this user and have one name.
 * Returns -1 with errno (and outpath->refused). */
int outpath_open(struct outpath *outpath, int flags);

/* Resolves and opens a directory, to list it and to create files in it. If the directory does not exist and mode is not
 * 0, creates it with `mode`, so that it survives a power cut. Returns -1 with errno (and outpath->refused). The caller
 * calls outpath_close. */
int outpath_directory(struct outpath *outpath, const char *path, mode_t mode);

#endif
