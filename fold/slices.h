/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.h - --time-slice: one output file for each span of N seconds.
 *
 * While a recording is read, slices are the outermost frames of the tree; their names are the first second of the
 * slice. slices_write() then writes a file for each of them.
 */
#ifndef PJ_SLICES_H
#define PJ_SLICES_H

#include "common/formats/folded.h"

/* Number of lost samples or records by slice. */
struct slices_lost {
	struct intern names;
	/* By name. */
	uint64_t *n;
	size_t cap;
	/* Sum of all n. */
	uint64_t sum;
};

/* Adds n losses to the slice with this name. */
void slices_lose(struct slices_lost *lost, struct str name, uint64_t n);
/* Adds the losses of `more` to `lost`. */
void slices_lost_add(struct slices_lost *lost, const struct slices_lost *more);
void slices_lost_free(struct slices_lost *lost);

/* Writes the name of the slice of the time `ns` into `name` and returns it: its first second, with decimals if slices
 * are not full seconds. */
#define SLICES_NAME 40
struct str slices_name(uint64_t ns, uint64_t slice_ns, char name[SLICES_NAME]);

/* True if the name of an output contains exactly one %s. */
bool slices_name_fits(const char *pattern);

/* Writes each slice of `stacks` with a weight to a file: `pattern` with the name of the slice for %s. Returns the
 * number of files. `header` is the common header, or NULL; samples, losses and times are set for each slice. With a
 * header, a slice that only has losses is written, too. Subtrees below min_samples become [other]. */
uint64_t slices_write(const char *pattern, const struct stacks *stacks, const struct folded_header *header,
		      const struct slices_lost *lost, uint64_t min_samples);

#endif
