/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbolizedwriter.h - collects the names of all code of a recording, and writes them as section FEATURE_PJ_NAMES.
 *
 * pjpack runs the lookups of pjfold; each of them passes its result here, whatever its source was: an ELF file, kernel
 * symbols, a perf map, a jitdump, a timeline. So a section has only what the recording needs, each text once. Equal
 * calls give equal bytes. One thread uses the writer. A writer of zero bytes is valid and empty.
 */
#ifndef PJ_SYMBOLIZEDWRITER_H
#define PJ_SYMBOLIZEDWRITER_H

#include "common/intern.h"
#include "fold/symbolized/symbolized.h"

struct symbolizedwriter {
	/* The names of inlined calls are among the results. The owner sets it. */
	bool inlined;
	/* Results (names, addresses, code, stacks) that are left out because of a limit. */
	uint64_t left_out;
	/* Addresses that got two names, since two files or processes have one key: they have no name in the section. */
	uint64_t conflicts;
	/* Number of stacks, and of addresses with a name. */
	uint64_t nstacks, named;

	/* The texts of the section, and the number of bytes that they and the entries take, at most. */
	struct intern texts;
	uint64_t bytes;
	/* Bytes of the texts that entries refer to, each counted as often as it is. */
	uint64_t referred;
	/* The DSOs, by the id of their key in `keys`, minus 1. */
	struct intern keys;
	struct symbolizedwriter_dso *dso;
	/* Code: its entries in the order of the calls; by id in `places`, minus 1, the latest entry of an address. */
	struct symbolizedwriter_code *code;
	size_t ncode;
	struct intern places;
	size_t *latest;
	/* The processes with code, and for each 1 if its code is of a jitdump. */
	struct intern pids;
	uint8_t *replaces;
	/* The stacks, as in the section; full: one of them did not fit. */
	struct text stacks;
	bool full;
};

/* Adds a DSO. why: the reason for its addresses without a name, 0 to 255. Returns its number for symbolizedwriter_row;
 * SIZE_MAX if the limit is reached. Equal keys have one number. */
size_t symbolizedwriter_dso(struct symbolizedwriter *writer, struct str key, unsigned why);
/* Adds an address of a DSO with its result; empty texts are absent. Addresses come in any order. */
void symbolizedwriter_row(struct symbolizedwriter *writer, size_t dso, const struct symbolized_row *row);

/* Adds a lookup of code by address and time in ns; times ascend. code: the result, NULL if there was none. replaces: it
 * was looked up in a jitdump. */
void symbolizedwriter_code(struct symbolizedwriter *writer, uint32_t pid, bool replaces, uint64_t address,
			   uint64_t time, const struct jit_code *code);

/* Begins the stack of a sample with a stack copy, in order of time. end: 0 to 255. If it returns true, n frames follow;
 * false: this stack and all later ones do not fit. */
bool symbolizedwriter_stack(struct symbolizedwriter *writer, uint64_t n, unsigned end);
/* Adds a frame. before: the frame before, NULL for the first. */
void symbolizedwriter_frame(struct symbolizedwriter *writer, const struct symbolized_frame *frame,
			    const struct symbolized_frame *before);

/* Appends the section to *section. Call it once, at the end. */
void symbolizedwriter_put(struct symbolizedwriter *writer, struct text *section);
void symbolizedwriter_free(struct symbolizedwriter *writer);

#endif
