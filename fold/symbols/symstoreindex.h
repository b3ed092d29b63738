/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symstoreindex.h - which files DIR/symbols and DIR/jit have, read once for each folder.
 *
 * A fold looks the same build-ids up for thousands of processes, mostly in vain, and each attempt to open one would be
 * a request to the broker: 14,400 of 427 paths for a window of 1,852 processes. Threads may call at the same time.
 */
#ifndef PJ_SYMSTOREINDEX_H
#define PJ_SYMSTOREINDEX_H

#include "common/base.h"

struct attic_index;

/* dir: DIR, which stays open as long as the index lives. */
struct attic_index *attic_index_new(int dir);
void attic_index_free(struct attic_index *x);

/* path: below DIR, such as "symbols/...". Returns the inode of the regular file, 0 if there is none. */
uint64_t attic_index_inode(struct attic_index *x, const char *path);

/* Returns a descriptor, or -1 with errno. */
int attic_index_open(struct attic_index *x, const char *path);

#endif
