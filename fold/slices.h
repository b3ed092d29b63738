/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.h - --time-slice: one output file for each span of N seconds, or one text with the time in each stack.
 *
 * While a recording is read, the outermost frame of each stack is its slice. The name of a slice is the second at which
 * it begins. slices_write() then writes a file for each slice; slices_complete() prepares one text for all of them.
 */
#ifndef PJ_SLICES_H
#define PJ_SLICES_H

#include "common/formats/folded.h"
#include "fold/samples/slicelosses.h"

/* Name of the slice of the samples that have no time. */
#define SLICES_NO_TIME "[no-time]"

/* Writes the name of the slice that contains the time `ns` into `name` and returns it: the second at which the slice
 * begins, with 9 decimals if slice_ns is not a multiple of a second. SLICES_NAME: size of the buffer. */
#define SLICES_NAME 40
struct str slices_name(uint64_t ns, uint64_t slice_ns, char name[SLICES_NAME]);

/* True if `pattern`, the name of an output, contains exactly one "%s". False for NULL. */
bool slices_name_fits(const char *pattern);

/* Makes `stacks` a text of samples with times (pj-folded(5)): the slice stays the outermost frame, its losses are the
 * weight of a frame [lost] in it, and a sample without any other frame gets the frame [unknown]. A frame of a sample
 * directly below its slice that has the name [lost] becomes _lost_: a process may have any name, and must not pass for
 * losses. Dies if the sum of all weights exceeds 63 bits. */
void slices_complete(struct stacks *stacks, const struct slices_lost *lost);

/* Writes a file for each slice of `stacks` that has a weight. The path is `pattern` with the name of the slice in place
 * of "%s". Returns the number of files. `header`, or NULL, is common to the files; its samples, losses and times are
 * replaced by those of the slice. With a header, a slice that has losses only gets a file, too. Subtrees below
 * min_samples become [other]. */
uint64_t slices_write(const char *pattern, const struct stacks *stacks, const struct folded_header *header,
		      const struct slices_lost *lost, uint64_t min_samples);

#endif
