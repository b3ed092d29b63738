/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buildids.h - the build-id of a path, as the recorder's list of them tells.
 *
 * The list may grow while a recording is read, and be as long as that of the files: it is looked up, never searched.
 */
#ifndef PJ_BUILDIDS_H
#define PJ_BUILDIDS_H

#include "common/intern.h"
#include "fold/perfdata/perfdata.h"
#include "common/text.h"

struct buildids {
	struct intern paths;
	struct build_id *id; /* by path */
	size_t cap, done;    /* done: of the list */
	struct text key;
};

/* Takes what is new of the whole list. Of several that a path has the first counts, as in perf. */
void buildids_update(struct buildids *buildids, const struct perfdata_build_id *list, size_t n);

/* kernel: the path is of the kernel or a module. n is 0 when none is told. */
struct build_id buildids_find(struct buildids *buildids, bool kernel, struct str path);

void buildids_free(struct buildids *buildids);

#endif
