/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbolizedwriter.h - collects the names of all code of a recording, and writes them as section FEATURE_PJ_NAMES.
 *
 * pjpack runs the lookups of pjfold. Each lookup passes its result to this module, from any source: an ELF file, kernel
 * symbols, a perf map, a jitdump or a timeline. So a section contains only names that the recording needs, and each
 * text once. Equal calls give equal bytes. Only one thread may use a writer. A writer whose bytes are all zero is valid
 * and empty.
 */
#ifndef PJ_SYMBOLIZEDWRITER_H
#define PJ_SYMBOLIZEDWRITER_H

#include "common/intern.h"
#include "fold/symbolized/symbolized.h"

struct symbolizedwriter {
	/* True if the results contain names of inlined calls. The owner sets it. */
	bool inlined;
	/* Number of results (names, addresses, code entries, stacks) that are left out because of a limit. */
	uint64_t left_out;
	/* Number of addresses with two different names, because two files or processes have the same key. Such
	 * addresses get no name in the section. */
	uint64_t conflicts;
	/* nstacks: number of stacks so far. named: number of addresses with a name, counted in
	 * symbolizedwriter_put(). */
	uint64_t nstacks, named;

	/* texts: the texts of the section. bytes: upper bound for the size of the texts and entries so far, in
	 * bytes. */
	struct intern texts;
	uint64_t bytes;
	/* Sum of the sizes in bytes of the texts to which entries refer, counted for each reference. */
	uint64_t referred;
	/* The DSOs. The index of a DSO is the id of its key in `keys`, minus 1. */
	struct intern keys;
	struct symbolizedwriter_dso *dso;
	/* code: code entries in the order of calls. latest[i]: index in `code` of the latest entry of an address of a
	 * process; i is the id of the address in `places`, minus 1. */
	struct symbolizedwriter_code *code;
	size_t ncode;
	struct intern places;
	size_t *latest;
	/* pids: processes with JIT code. replaces[id in `pids` - 1]: 1 if at least one lookup of the process was in a
	 * jitdump, so that the packed code replaces that in the recording's other sections (SYMBOLIZED_ALL). */
	struct intern pids;
	uint8_t *replaces;
	/* stacks: the stacks in the form of the section. full: true if a stack did not fit, so that all later stacks
	 * are left out. */
	struct text stacks;
	bool full;
};

/* Adds a DSO, unless its key has been added before. why: reason why addresses have no name, 0 to 255. Returns the
 * number of the DSO for symbolizedwriter_row, or SIZE_MAX if a limit is reached. */
size_t symbolizedwriter_dso(struct symbolizedwriter *writer, struct str key, unsigned why);
/* Adds an address of a DSO with the result of its lookup; an empty text: not found. dso: result of
 * symbolizedwriter_dso. Addresses may come in any order. */
void symbolizedwriter_row(struct symbolizedwriter *writer, size_t dso, const struct symbolized_row *row);

/* Adds the result of a lookup of JIT code of process `pid` by address and time in ns; calls must come in ascending
 * order of time. code: NULL if no code was found. replaces: true if the lookup was in a jitdump: readers then use the
 * code of the packed section instead of the code in other sections of the recording (SYMBOLIZED_ALL). */
void symbolizedwriter_code(struct symbolizedwriter *writer, uint32_t pid, bool replaces, uint64_t address,
			   uint64_t time, const struct jit_code *code);

/* Starts the stack of a sample with a stack copy. Stacks must come in order of time. end: reason why the walk ended, 0
 * to 255. Returns true if the stack fits: the caller must then add n frames. Returns false if it does not fit: all
 * later stacks are then left out, too. */
bool symbolizedwriter_stack(struct symbolizedwriter *writer, uint64_t n, unsigned end);
/* Adds a frame to the stack. before: the previous frame; NULL for the first frame. */
void symbolizedwriter_frame(struct symbolizedwriter *writer, const struct symbolized_frame *frame,
			    const struct symbolized_frame *before);

/* Appends the section to *section. Call it once, at the end. */
void symbolizedwriter_put(struct symbolizedwriter *writer, struct text *section);
void symbolizedwriter_free(struct symbolizedwriter *writer);

#endif
