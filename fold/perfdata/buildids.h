/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buildids.h - index from paths to the build-ids that the recorder listed for them.
 *
 * perf and pjrecord write a list of (path, build-id) pairs, perfdata_build_ids(). The list may grow while a recording
 * is read, and it may have as many entries as files were mapped. So each entry is put into a hash table once, and a
 * lookup does not search the list.
 *
 *     buildids_update(&ids, list, n);     after each growth of the list
 *     id = buildids_find(&ids, false, path);
 *     if (id.n) ...
 */
#ifndef PJ_BUILDIDS_H
#define PJ_BUILDIDS_H

#include "common/intern.h"
#include "fold/perfdata/perfdata.h"
#include "common/text.h"

struct buildids {
	/* Interned keys: 'k' (kernel or kernel module) or 'u' (user file), then the path. */
	struct intern paths;
	/* Build-ids; the index is the id of the key in `paths`. */
	struct build_id *id;
	/* cap: capacity of `id` in elements. done: number of list entries that buildids_update() has processed. */
	size_t cap, done;
	/* Buffer in which a key is composed. */
	struct text key;
};

/* Adds those entries of list[0..n) that earlier calls have not added. `list` must be the same list at each call,
 * possibly longer. If a path is listed more than once, its first non-empty build-id is used, as in perf. */
void buildids_update(struct buildids *buildids, const struct perfdata_build_id *list, size_t n);

/* Returns the build-id of `path`; its member n is 0 if the list has no build-id for the path. `kernel` is true for the
 * kernel and its modules, false for user files: entries of both kinds may have the same path. */
struct build_id buildids_find(struct buildids *buildids, bool kernel, struct str path);

/* Frees all memory and makes the index empty (all zero). */
void buildids_free(struct buildids *buildids);

#endif
