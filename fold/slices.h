/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.h - --time-slice: one output for every N seconds.
 *
 * While a recording is read, slices are the outermost frames of the tree: "%s", the second at which a slice begins.
 * Here each becomes a file of its own.
 */
#ifndef PJ_SLICES_H
#define PJ_SLICES_H

#include "common/formats/folded.h"

/* What was lost, by slice. */
struct slices_lost {
	struct intern names;
	uint64_t *n; /* by name */
	size_t cap;
	uint64_t sum;
};

void slices_lose(struct slices_lost *lost, struct str name, uint64_t n);
void slices_lost_add(struct slices_lost *lost, const struct slices_lost *more);
void slices_lost_free(struct slices_lost *lost);

/* The name of the slice that a time is in: its first second, with decimals where slices need them. */
#define SLICES_NAME 40
struct str slices_name(uint64_t ns, uint64_t slice_ns, char name[SLICES_NAME]);

/* Does an output's name have its one %s? */
bool slices_name_fits(const char *pattern);

/* Writes every slice of stacks that holds anything; returns how many there were. header: header of all of them, or
 * NULL; its counts and times are set for each, and a slice of which all was lost is written, too. */
uint64_t slices_write(const char *pattern, const struct stacks *stacks, const struct folded_header *header,
		      const struct slices_lost *lost, uint64_t min_samples);

#endif
