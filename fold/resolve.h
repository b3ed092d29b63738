/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.h - names of all locations that a recording refers to.
 *
 * Each DSO is looked up once, with all its addresses, in the source of its names: ELF files, kallsyms, perf map,
 * jitdump. The lookups are independent of each other, so that threads share them; the result does not depend on the
 * number of threads. Files of this machine are used only for a recording of this machine.
 */
#ifndef PJ_RESOLVE_H
#define PJ_RESOLVE_H

#include "fold/samples/inputerrors.h"
#include "fold/symbols/dsofiles.h"
#include "fold/symbols/symstore.h"
#include "fold/names/names.h"
#include "fold/symbols/provenance.h"
#include "fold/process/addrspace.h"
#include "fold/process/locations.h"
#include "common/stacks.h"

/* Options; strings and pointers must stay valid during resolve(). */
struct resolve_options {
	/* Names as perf script prints them. */
	bool as_perf;
	/* Thread names without trailing numbers (--comm=canonical), for --root=both. */
	bool canonical;
	/* Inlined calls become frames of their own. */
	bool inlined;
	/* File with kernel symbols, or NULL. */
	const char *kallsyms;
	/* Symbol store of pjrecord, or NULL. */
	const struct symstore *symstore;
	/* Directory with the files of the recorded machine, or NULL. */
	const char *symfs;
	unsigned threads;
	/* Only the options in it are used. */
	struct names names;
};

/* Reasons for frames without name; resolve_why() gives the texts. */
enum resolve_why {
	/* The DSO has symbols, but none at this address. */
	WHY_NOT_IN_TABLE,
	/* The address is in no mapping, or in one that is not of a file. */
	WHY_NO_MAPPING,
	WHY_DATA,
	/* The result of the search for an ELF file, enum dso_reason. */
	WHY_NO_FILE,
	WHY_OTHER_BUILD,
	WHY_STRIPPED,
	WHY_NOT_ELF,
	WHY_FORBIDDEN,
	WHY_SILENT,
	/* pjrecord could not read the name of an interpreted method. */
	WHY_METHOD,
	/* JIT code: there is no usable perf map; and the process has ended; the process is not of this machine and
	   boot. */
	WHY_NO_MAP,
	WHY_ENDED,
	WHY_ELSEWHERE,
	/* A file without build-id, or JIT code: the recording does not identify its machine, or is from another one. */
	WHY_NOT_RECORDED,
	WHY_OTHER_MACHINE,
	/* There are no kernel symbols; resolved.kernel has the reason. */
	WHY_KERNEL
};

/* Result of resolve(). */
struct resolved {
	/* By location: index in `frame` of its first frame, outermost first. Its frames end where those of the next
	 * location begin. */
	uint32_t *first;
	/* Ids of frames in the tree that was given to resolve(). */
	uint32_t *frame;
	/* By location: a name was found. */
	bool *named;
	/* By DSO: enum resolve_why. */
	uint8_t *why;
	/* Number of DSOs whose build-id also belongs to another file of the symbol store with other symbols. */
	_Atomic uint32_t conflicts;
	/* Text of WHY_KERNEL: the reason for the lack of kernel symbols, or NULL. */
	const char *kernel;
	/* By DSO: result of the search for inlined calls; NULL if they were not requested. */
	struct dsofiles_inlined *inlined;
	/* Invalid lines of perf maps. */
	struct input_errors maps;
};

/* Finds the names of all `locations` and adds their frames to `stacks`. Starts up to options->threads - 1 threads and
 * ends them. Fills *out, which the caller frees with resolved_free().
 *
 *     for (i = out.first[location]; i < out.first[location + 1]; i++)
 *             ... out.frame[i] ...                 the frames of a location, outermost first
 */
void resolve(struct resolved *out, const struct resolve_options *options, const struct provenance *origin,
	     const struct addrspace *addrspace, const struct locations *locations, struct stacks *stacks);

/* Returns the DSO that is shown for the code of a location: a path, or a name in brackets. */
struct str resolve_dso(const struct addrspace *addrspace, const struct location *location);

/* Returns the text of a reason, for messages. */
const char *resolve_why(const struct resolved *resolved, enum resolve_why why);

/* Frees the result; the frames stay in the tree. */
void resolved_free(struct resolved *resolved);

#endif
