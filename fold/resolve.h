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

#include "fold/samples/inputerrors.h"
#include "fold/symbols/dsofiles.h"
#include "fold/symbols/symstore.h"
#include "fold/names/names.h"
#include "fold/symbols/provenance.h"
#include "fold/process/locations.h"
#include "common/stacks.h"

struct resolve_options {
	bool as_perf;
	bool canonical;                  /* of comms */
	bool inlined;                    /* inlined calls are frames, too */
	const char *kallsyms;            /* file, or NULL */
	const struct symstore *symstore; /* of pjrecord, or NULL */
	const char *symfs;               /* folder that holds the files of the recorded machine, or NULL */
	unsigned threads;
	struct names names; /* options of it only */
};

/* Why frames of a DSO have no name. */
enum resolve_why {
	WHY_NOT_IN_TABLE, /* there are names, but none here */
	WHY_NO_MAPPING,
	WHY_DATA,
	WHY_NO_FILE,
	WHY_OTHER_BUILD,
	WHY_STRIPPED,
	WHY_NOT_ELF,
	WHY_FORBIDDEN,
	WHY_SILENT,
	WHY_METHOD,
	WHY_NO_MAP,
	WHY_ELSEWHERE,
	WHY_NOT_RECORDED,
	WHY_OTHER_MACHINE,
	WHY_KERNEL
};

struct resolved {
	uint32_t *first; /* by site: where its frames begin in frame, outermost first; those of the next end them */
	uint32_t *frame; /* ids in the stacks given */
	bool *named;     /* by site: a name was found */
	uint8_t *why;    /* by DSO: enum resolve_why */
	_Atomic uint32_t conflicts;       /* DSOs whose build-id another kept file has, too, with other symbols */
	const char *kernel;               /* WHY_KERNEL: why there are no names of it */
	struct dsofiles_inlined *inlined; /* by DSO, where inlined calls were asked for; else NULL */
	struct input_errors maps;         /* lines of perf maps */
};

void resolve(struct resolved *out, const struct resolve_options *options, const struct provenance *origin,
	     const struct addrspace *addrspace, const struct locations *locations, struct stacks *stacks);

/* A reason for people. */
const char *resolve_why(const struct resolved *resolved, enum resolve_why why);

void resolved_free(struct resolved *resolved);

#endif
