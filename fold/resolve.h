/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.h - the names of all places in code that a recording hit.
 *
 * Each DSO is asked once, with all its addresses, of whatever tells its names: files, kallsyms, perf map, jitdump. They
 * do not depend on each other, so threads share them out; what comes out is the same. What this machine has is only
 * used for a recording of this machine.
 */
#ifndef PJ_RESOLVE_H
#define PJ_RESOLVE_H

#include "names.h"
#include "sites.h"
#include "stacks.h"

struct resolve_options {
	bool as_perf;
	const char *kallsyms; /* file, or NULL */
	const char *symfs;    /* folder that holds the files of the recorded machine, or NULL */
	unsigned threads;
	struct names names;   /* options of it only */
	bool canonical;       /* of comms */
};

/* Why a DSO has frames without name. Texts for people are in resolve_why. */
enum resolve_why {
	WHY_NONE, WHY_NO_MAPPING, WHY_NO_FILE, WHY_OTHER_BUILD, WHY_STRIPPED, WHY_NOT_ELF, WHY_FORBIDDEN, WHY_DATA,
	WHY_NO_MAP, WHY_NOT_IN_MAP, WHY_NO_KALLSYMS, WHY_OTHER_KERNEL, WHY_NOT_IN_KALLSYMS, WHY_ELSEWHERE
};

struct resolved {
	uint32_t *first; /* by site: where its frames begin in frame, outermost first; those of the next end them */
	uint32_t *frame; /* ids in the stacks given */
	bool *named;     /* by site: a name was found */
	uint8_t *why;    /* by DSO: enum resolve_why */
	const char *kernel; /* why there are no names of the kernel, or NULL */
	uint64_t map_bad;   /* lines of perf maps that are none */
};

void resolve(struct resolved *out, const struct resolve_options *o, const struct perfdata_info *info,
	     const struct addrspace *a, const struct sites *s, struct stacks *to);

const char *resolve_why(enum resolve_why why);

void resolved_free(struct resolved *r);

#endif
