/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windir.h - opens DIR and its folders so that no other user can redirect a recorder that runs as root.
 *
 * DIR is the path that the user gave, and may contain symbolic links. A folder in DIR is used only if it is not a link
 * and belongs to the user who records. After opening, all access goes through descriptors, so DIR may be renamed
 * meanwhile.
 */
#ifndef PJ_WINDIR_H
#define PJ_WINDIR_H

#include "common/base.h"

#include <sys/types.h>

struct windir {
	/* Descriptors of DIR and of its folders recording/, out/ and bad/. */
	int dir, recording, out, bad;
};

/* Implements windows_prepare, with the contract in windows.h. */
void windir_prepare(const char *dir, uid_t *uid, gid_t *gid);

/* Opens DIR and its folders, and creates missing ones. Ends the process with a message if DIR cannot be used. */
void windir_open(struct windir *windir, const char *dir);
void windir_close(struct windir *windir);

/* Sets *epoch to the number E of a name "E.data". Returns false for other names, also for one with leading zeros such
 * as 007.data; then *epoch is undefined. */
bool windir_epoch(const char *name, uint64_t *epoch);

/* Calls f for each name E.data in the folder with descriptor `space`, in any order, until f returns false. Returns
 * false if the folder cannot be opened. */
bool windir_each(int space, bool (*f)(void *arg, int space, const char *name, uint64_t epoch), void *arg);

/* Opens a regular file in the folder with descriptor `space`, without following a link. flags: of open(2). Returns its
 * descriptor; -1 with errno on failure (EINVAL: not a regular file). */
int windir_file(int space, const char *name, int flags);

#endif
