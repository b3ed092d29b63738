/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windir.h - DIR and the folders in it, opened so that nobody leads a recorder of root elsewhere.
 *
 * DIR itself is what the user said, links and all. A folder in it is used only when it is no link and belongs to who
 * records; from then on everything goes through descriptors, so that it may be renamed meanwhile.
 */
#ifndef PJ_WINDIR_H
#define PJ_WINDIR_H

#include "common/base.h"

#include <sys/types.h>

struct windir {
	int dir, recording, out, bad;
};

void windir_prepare(const char *dir, uid_t *uid, gid_t *gid); /* as windows_prepare */
void windir_open(struct windir *windir, const char *dir);     /* makes what is missing; dies when it cannot be used */
void windir_close(struct windir *windir);

/* The number E of a name "E.data"; false: another file. */
bool windir_epoch(const char *name, uint64_t *epoch);

/* Calls f for each E.data in the folder, in any order, until it returns false. False: the folder cannot be read. */
bool windir_each(int space, bool (*f)(void *arg, int space, const char *name, uint64_t epoch), void *arg);

/* A descriptor of a regular file, without following links; -1: none. */
int windir_file(int space, const char *name, int flags);

#endif
