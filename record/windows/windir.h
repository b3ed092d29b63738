/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windir.h - opens DIR and its folders so that no other user can redirect a recorder of root.
 *
 * DIR is the path that the user gave, links included. A folder in it is used only if it is no link and belongs to the
 * recording user. All later access goes through descriptors, so DIR may be renamed meanwhile.
 */
#ifndef PJ_WINDIR_H
#define PJ_WINDIR_H

#include "common/base.h"

#include <sys/types.h>

struct windir {
	/* Descriptors of DIR and of the folders of these names. */
	int dir, recording, out, bad;
};

/* Implements windows_prepare (windows.h). */
void windir_prepare(const char *dir, uid_t *uid, gid_t *gid);

/* Opens DIR and its folders, and makes missing ones. Ends the process with a message if DIR cannot be used. */
void windir_open(struct windir *windir, const char *dir);
void windir_close(struct windir *windir);

/* Sets *epoch to the number E of a name "E.data". Returns false for other names, also for 007.data. */
bool windir_epoch(const char *name, uint64_t *epoch);

/* Calls f for each E.data in the folder `space`, in any order, until f returns false. Returns false if the folder
 * cannot be read. */
bool windir_each(int space, bool (*f)(void *arg, int space, const char *name, uint64_t epoch), void *arg);

/* Opens a regular file in a folder without following links. Returns its descriptor; -1 if there is none. */
int windir_file(int space, const char *name, int flags);

#endif
