/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symstoreindex.h - an index of the files in DIR/symbols and DIR/jit; each folder is read once.
 *
 * pjfold looks up the same build-ids for thousands of processes, mostly without success, and each attempt to open a
 * file would be a request to the broker: 14,400 requests for 427 paths in a window of 1,852 processes. Several threads
 * may call the functions at the same time.
 */
#ifndef PJ_SYMSTOREINDEX_H
#define PJ_SYMSTOREINDEX_H

#include "common/base.h"

struct symstore_index;

/* Returns an empty index of the folder `dir`, a descriptor that must stay open as long as the index. */
struct symstore_index *symstoreindex_new(int dir);
void symstoreindex_free(struct symstore_index *index);

/* Returns the inode of the regular file at a path below DIR, such as "symbols/..."; 0 if there is no such file. */
uint64_t symstoreindex_inode(struct symstore_index *index, const char *path);

/* Opens the file at a path below DIR. Returns a descriptor, or -1 and errno. */
int symstoreindex_open(struct symstore_index *index, const char *path);

#endif
