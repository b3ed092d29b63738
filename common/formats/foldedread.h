/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foldedread.h - reads a folded text into a tree.
 *
 * Accepts the variants of all known tools: comments (`# `), CRLF, weights with decimals (which are rounded and
 * counted), two columns. A text has two columns only if every line ends in two integers.
 */
#ifndef PJ_FOLDEDREAD_H
#define PJ_FOLDEDREAD_H

#include "common/formats/foldedhead.h"
#include "common/filter/in.h"

/* Counts of lines. If the same struct is passed for several files, its counts are sums. */
struct folded_tally {
	uint64_t lines;   /* number of lines with a stack */
	uint64_t callers; /* number of inputs in which a stack has more than one frame */
	uint64_t bad;     /* number of skipped lines: they contain no stack */
	uint64_t rounded; /* number of rounded weights, which had decimals */
	uint64_t comments;
	/* Sum of the weights of texts with one column and without a header. It counts as their number of samples. */
	uint64_t headerless;
	struct place first_bad[3]; /* positions of the first skipped lines; name NULL: fewer lines */
	const char *why[3];        /* reasons why the lines in first_bad were skipped; static texts */
};

/* Reads an input to its end: adds its stacks to `stacks`, merges its header into *header, and adds its counts to
 * *tally. Returns the number of columns: 1, 2, or 0 if the input has no stacks. Of two columns, column 0 is the weight
 * before and column 1 the weight after a change. Ends the tool if the sum of the weights exceeds 63 bits. With
 * stacks->in_time the text is read as one column; if 2 is returned, stacks must then not be used. */
unsigned folded_read(struct in *input, struct stacks *stacks, struct folded_header *header, struct folded_tally *tally);

/* Ends the tool if the input is probably no folded text: if it has stacks, and either more lines were skipped than
 * read, or lines were skipped and no stack has a caller. before and tally: counts before and after folded_read. Reason:
 * lines of many formats end in a number. Of 201 files of other formats, 46 had enough such lines for a picture; this
 * rule rejects 43 of them, and none of 241 folded files (2026-11). */
void folded_check(const struct folded_tally *before, const struct folded_tally *tally, const char *name);

#endif
