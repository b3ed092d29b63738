/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing.h - opens the list of the names in a folder.
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

/* Returns the list of the folder to which the descriptor `folder` refers, from its beginning. The list has a descriptor
 * of its own. Returns NULL with errno on failure, also for -1. */
DIR *listing_open(int folder);

/* Returns the list of the folder to which fd refers; closedir() closes fd. Returns NULL with errno on failure, also for
 * -1, and closes fd. */
DIR *listing_take(int fd);

#endif
