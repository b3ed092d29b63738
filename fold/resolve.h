/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.h - finds the names of all locations that a recording refers to.
 *
 * All addresses of a DSO are looked up at once in the source of the DSO's names: ELF files, kallsyms, perf map,
 * jitdump. The lookups are independent of each other, so threads share them; the result does not depend on the number
 * of threads. Files of this machine are used only for a recording of this machine.
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

/* Options of resolve(); strings and pointers must stay valid until it returns. */
struct resolve_options {
	/* True: make names as perf script prints them. */
	bool as_perf;
	/* True: remove trailing numbers from the thread names of --root=both (--comm=canonical). */
	bool canonical;
	/* True: look up inlined calls, and show them as frames of their own. */
	bool inlined;
	/* True: append file and line to the names of interpreted functions. */
	bool srcline;
	/* Path of a file with kernel symbols (--kallsyms), or NULL. */
	const char *kallsyms;
	/* Symbol store of pjrecord, or NULL. */
	const struct symstore *symstore;
	/* Directory with the files of the recorded machine, or NULL. */
	const char *symfs;
	/* True if the user named a source of names (--symbol-store, --maps): names that a packed recording lacks are
	 * looked up there. */
	bool named_source;
	/* Writer of pjpack, to which the result of each lookup is passed; NULL: none. */
	struct symbolizedwriter *packed;
	unsigned threads;
	/* Options of names.h; the buffer in this struct is not used. */
	struct names names;
};

/* Reasons for frames without a name; resolve_why() returns their texts. Packed recordings store the numbers of the
 * reasons: add new reasons just before WHY_REASONS. */
enum resolve_why {
	/* The DSO has symbols, but none at the address of the frame. */
	WHY_NOT_IN_TABLE,
	/* The address is in no mapping (WHY_NO_MAPPING), or in a mapping of no file (WHY_DATA). */
	WHY_NO_MAPPING,
	WHY_DATA,
	/* The search for an ELF file failed, for the reason of the same name in enum dso_reason. */
	WHY_NO_FILE,
	WHY_OTHER_BUILD,
	WHY_STRIPPED,
	WHY_NOT_ELF,
	WHY_FORBIDDEN,
	WHY_SILENT,
	/* pjrecord's list of interpreted functions has no name for the function of the frame. */
	WHY_METHOD,
	/* JIT code without a usable perf map. WHY_ENDED: because the process has ended. WHY_ELSEWHERE: because the
	 * process is not of this machine and boot. WHY_NO_MAP: for another reason. */
	WHY_NO_MAP,
	WHY_ENDED,
	WHY_ELSEWHERE,
	/* WHY_NOT_RECORDED: the recording does not identify its machine, so no file of this machine was used for JIT
	 * code or a file without build-id. WHY_OTHER_MACHINE: the recording is from another machine, and the file has
	 * no build-id. */
	WHY_NOT_RECORDED,
	WHY_OTHER_MACHINE,
	/* There are no kernel symbols; resolved.kernel is the reason. */
	WHY_KERNEL,
	/* The mapping has no build-id, and the file at its path was replaced or changed. */
	WHY_OTHER_FILE,
	/* The mapping has no build-id, and the recording has no inode and time with which to compare the file at its
	 * path. */
	WHY_UNPROVEN,
	WHY_REASONS
};

/* Result of resolve(). */
struct resolved {
	/* By location: index in `frame` of the outermost frame of the location. Its frames end where the frames of the
	 * next location begin. */
	uint32_t *first;
	/* Ids of frames in the tree `stacks` that was passed to resolve(), grouped by location. */
	uint32_t *frame;
	/* By location: true if a name was found. */
	bool *named;
	/* By DSO: reason for its addresses without a name (enum resolve_why). */
	uint8_t *why;
	/* Number of DSOs for which the symbol store has two files with the same build-id but different symbols. */
	_Atomic uint32_t conflicts;
	/* Text for WHY_KERNEL, the reason why there are no kernel symbols; NULL if there are kernel symbols, or if no
	 * kernel code was sampled. */
	const char *kernel;
	/* By DSO: result of the search for inlined calls; NULL if resolve_options.inlined is false. */
	struct dsofiles_inlined *inlined;
	/* Number of invalid lines in perf maps, and the error of the first invalid line. */
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

/* Returns the DSO that is shown for a location: a path, or a name in brackets; empty for a location that is no code. */
struct str resolve_dso(const struct addrspace *addrspace, const struct location *location);

/* Returns the text of the reason `why`, for messages; for WHY_KERNEL, returns resolved->kernel. */
const char *resolve_why(const struct resolved *resolved, enum resolve_why why);

/* Frees the memory of *resolved; the frames stay in the tree. */
void resolved_free(struct resolved *resolved);

#endif
