/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buildids.h - index from a path to the build-id that the recorder lists for it.
 *
 * perf and pjrecord write a list of (path, build-id) pairs, perfdata_build_ids(). The list may grow while a recording
 * is read, and it may have as many entries as files were mapped. Each entry is therefore put into a hash table once,
 * and a lookup never searches the list.
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
	/* Keys: 'k' or 'u' for kernel or user, then the path. */
	struct intern paths;
	/* Build-ids; the index is the id that `paths` gives to the key. */
	struct build_id *id;
	/* Capacity of `id`, and the number of list entries that buildids_update() has processed. */
	size_t cap, done;
	/* Buffer in which a key is composed. */
	struct text key;
};

/* Adds the entries of list[0..n) that earlier calls have not added. `list` must be the same list at each call, possibly
 * longer. If a path is listed more than once, its first build-id that is not empty counts, as in perf. */
void buildids_update(struct buildids *buildids, const struct perfdata_build_id *list, size_t n);

/* Returns the build-id of `path`; its n is 0 if the list has no such path. `kernel` selects the entries of the kernel
 * and its modules; user files with the same path are separate entries. */
struct build_id buildids_find(struct buildids *buildids, bool kernel, struct str path);

/* Frees all memory and resets the struct; all zero is a valid empty index. */
void buildids_free(struct buildids *buildids);

#endif
