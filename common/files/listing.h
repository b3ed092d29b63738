/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing.h - opens the list of names in a folder.
 *
 *	DIR *dir = listing_open(folder);
 *
 *	while (dir && (entry = readdir(dir)))
 *		use(entry->d_name);
 *	if (dir)
 *		closedir(dir);
 */
#ifndef PJ_LISTING_H
#define PJ_LISTING_H

#include <dirent.h>

/* Opens the list of names in the folder of descriptor `folder`, from its start. The list uses a descriptor of its own,
 * and `folder` stays open. Returns NULL with errno on failure, also if `folder` is -1. */
DIR *listing_open(int folder);

/* Opens the list of names in the folder of descriptor fd, and takes ownership of fd: closedir() closes it. On failure,
 * closes fd and returns NULL with errno; fd may be -1. */
DIR *listing_take(int fd);

#endif
