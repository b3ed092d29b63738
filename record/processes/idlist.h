/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idlist.h - build-ids of the mapped files of a window: perf's BUILD_ID entries, and items of pj's own.
 *
 * Usually the mapping contains the build-id, and the list repeats it by path, as perf's tools expect. A build-id
 * that only the symbol saver can find arrives after the mapping was written. Such a file waits until the window
 * ends. Then an item identifies it by the file id of its mapping (PJ_ITEM_BUILD_ID), since the same path can be
 * another file in another container, and a BUILD_ID entry by its path is added only if that path has no other entry.
 * From the next window on its mappings contain the build-id.
 *
 * Order of calls for each window: idlist_begin, idlist_add, idlist_end.
 */
#ifndef PJ_IDLIST_H
#define PJ_IDLIST_H

#include "record/symsaver/symsaver.h"
#include "record/processes/processes.h"
#include "common/text.h"

struct idlist {
	/* content of the BUILD_ID section of this window */
	struct text entries;
	/* files of this window whose build-id is unknown so far: a struct waiting_file and a path for each */
	struct text waiting;
};

/* Empties the list of build-ids at the start of a window. */
void idlist_begin(struct idlist *idlist);

/* Adds a file of this window, which the caller adds once in a window. If file->build_id is unknown, sets it to that
 * which the symbol saver found in an earlier window. keep is the symbol saver, or NULL. */
void idlist_add(struct idlist *idlist, struct symsaver *keep, uint32_t pid, struct mapped_file *file);

/* Call it at the end of a window. For each waiting file whose build-id the symbol saver has found by now, appends an
 * item PJ_ITEM_BUILD_ID to `items`, and a BUILD_ID entry if its path has none. */
void idlist_end(struct idlist *idlist, struct symsaver *keep, struct text *items);

void idlist_free(struct idlist *idlist);

#endif
