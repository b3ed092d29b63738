/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idlist.h - which build each mapped file of a window is: perf's BUILD_ID entries, and items of our own.
 *
 * Mostly the mapping tells it, and the list repeats it by path, as perf's tools expect. What only the keeper can find
 * out comes later than the mapping was written: such a file waits until the window ends, and is then told by the
 * numbers of its mapping (PJ_ITEM_BUILD_ID), since paths in containers are those of other files elsewhere, and by its
 * path only where that is no contradiction. From the next window on its mappings tell it.
 */
#ifndef PJ_IDLIST_H
#define PJ_IDLIST_H

#include "record/symsaver/symsaver.h"
#include "record/processes/processes.h"
#include "common/text.h"

struct idlist {
	struct text entries; /* BUILD_ID section */
	struct text waiting; /* struct waiting, path, NUL */
};

void idlist_begin(struct idlist *idlist);

/* A file of this window, once each; the keeper may know its build-id from the window before. keep may be NULL. */
void idlist_add(struct idlist *idlist, struct symsaver *keep, uint32_t pid, struct mapped_file *file);

/* What the keeper found meanwhile: entries, and items appended to items. */
void idlist_end(struct idlist *idlist, struct symsaver *keep, struct text *items);

void idlist_free(struct idlist *idlist);

#endif
