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

struct rooms {
	int dir, recording, out, bad;
};

void rooms_prepare(const char *dir, uid_t *uid, gid_t *gid); /* as windows_prepare */
void rooms_open(struct rooms *r, const char *dir);           /* makes what is missing; dies when it cannot be used */
void rooms_close(struct rooms *r);

/* The number E of a name "E.data"; false: another file. */
bool rooms_epoch(const char *name, uint64_t *epoch);

/* Calls f for each E.data in the folder, in any order, until it returns false. False: the folder cannot be read. */
bool rooms_each(int room, bool (*f)(void *arg, int room, const char *name, uint64_t epoch), void *arg);

/* A descriptor of a regular file, without following links; -1: none. */
int rooms_file(int room, const char *name, int flags);

#endif
