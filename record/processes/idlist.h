/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idlist.h - build-ids of the mapped files of a window: perf's BUILD_ID entries, and pj's own items.
 *
 * Usually the mapping record contains the build-id, and the list repeats it by path, as perf's tools expect. A build-id
 * that only the symbol saver can find arrives after the mapping record was written. Such a file waits in the list until
 * the window ends. Then an item PJ_ITEM_BUILD_ID with the build-id identifies the file by the file id of its mapping,
 * since the same path can be another file in another container. A BUILD_ID entry with its path is added only if that
 * path has no other entry. From the next window on, mapping records of the file contain the build-id.
 *
 * Order of calls for each window: idlist_begin, idlist_add, idlist_end.
 */
#ifndef PJ_IDLIST_H
#define PJ_IDLIST_H

#include "record/symsaver/symsaver.h"
#include "record/processes/processes.h"
#include "common/text.h"

struct idlist {
	/* content of the BUILD_ID section of this window: perf's entries of build-id and path */
	struct text entries;
	/* files of this window whose build-id is still unknown: for each a struct waiting_file, followed by its path */
	struct text waiting;
};

/* Empties the list at the start of a window. */
void idlist_begin(struct idlist *idlist);

/* Adds a file of this window; the caller adds each file once per window. pid: a process that maps it. If file->build_id
 * is unknown, sets it to the build-id that the symbol saver has found in this or the previous window. keep: the symbol
 * saver, or NULL. */
void idlist_add(struct idlist *idlist, struct symsaver *keep, uint32_t pid, struct mapped_file *file);

/* Ends a window: handles each file in `waiting` whose build-id the symbol saver has found in the meantime. Appends an
 * item PJ_ITEM_BUILD_ID to `items`, and a BUILD_ID entry to the list if the path has none. */
void idlist_end(struct idlist *idlist, struct symsaver *keep, struct text *items);

void idlist_free(struct idlist *idlist);

#endif
