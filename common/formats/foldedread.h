/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foldedread.h - a folded text becomes a tree.
 *
 * Takes what any tool writes: `# ` lines, CRLF, decimals (rounded and counted), two columns. A file has two columns
 * only if every line of it ends in two integers.
 */
#ifndef PJ_FOLDEDREAD_H
#define PJ_FOLDEDREAD_H

#include "common/formats/foldedhead.h"
#include "common/filter/in.h"

/* Counts of reading; sums over several files if the same struct is passed again. */
struct folded_tally {
	uint64_t lines;   /* stacks read */
	uint64_t callers; /* lines with more than one frame */
	uint64_t bad;     /* number of skipped lines, which are no stacks */
	uint64_t rounded; /* number of weights with decimals, which were rounded */
	uint64_t comments;
	uint64_t headerless;       /* sum of the weights of inputs without header, which are samples */
	struct place first_bad[3]; /* positions of the first skipped lines; name NULL: none */
	const char *why[3];        /* reasons for skipping these lines; static texts */
};

/* Adds a complete input to stacks and returns its number of columns (1 or 2; an empty one: 0). Dies when weights
 * overflow. In a two-column file column 0 is before, column 1 after. In time there is one column: of a two-column file
 * stacks is of no use.
 */
unsigned folded_read(struct in *input, struct stacks *stacks, struct folded_header *header, struct folded_tally *tally);

/* Dies if the input is hardly folded text: it skipped more lines than it read, or some, and no stack has a caller.
 * before, tally: the counts before and after folded_read. Lines of many formats end in a number: of 201 files of other
 * formats 46 gave a picture of such lines; this rule stops 43 of them, and none of 241 right files (2026-11). */
void folded_check(const struct folded_tally *before, const struct folded_tally *tally, const char *name);

#endif
