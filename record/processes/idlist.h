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
	/* content of the BUILD_ID section */
	struct text entries;
	/* files without a build-id: a fixed record and the path of each */
	struct text waiting;
};

/* Empties the list at the start of a window. */
void idlist_begin(struct idlist *idlist);

/* Adds a file of this window; the caller adds each file once. The symbol saver may have its build-id from an earlier
 * window. keep may be NULL. */
void idlist_add(struct idlist *idlist, struct symsaver *keep, uint32_t pid, struct mapped_file *file);

/* To be called at the end of a window. For each added file whose build-id the symbol saver has found by now, adds it to
 * the list and appends an item (PJ_ITEM_BUILD_ID) to items. */
void idlist_end(struct idlist *idlist, struct symsaver *keep, struct text *items);

void idlist_free(struct idlist *idlist);

#endif
