/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.h - --time-slice: one output file for each span of N seconds, or one text with the time in each stack.
 *
 * While a recording is read, each stack gets its slice as the outermost frame. The name of a slice is the second at
 * which the slice begins. slices_write() then writes one file for each slice; slices_complete() prepares one text with
 * all slices.
 */
#ifndef PJ_SLICES_H
#define PJ_SLICES_H

#include "common/formats/folded.h"
#include "fold/samples/slicelosses.h"

/* Name of the slice for samples without a time. */
#define SLICES_NO_TIME "[no-time]"

/* Size in bytes of the buffer `name` of slices_name(). */
#define SLICES_NAME 40
/* Writes the name of the slice that contains the time `ns` into `name`, and returns the name: the second at which the
 * slice begins, with 9 decimals if slice_ns is not a multiple of a second. */
struct str slices_name(uint64_t ns, uint64_t slice_ns, char name[SLICES_NAME]);

/* Returns true if `pattern`, the path of an output, contains exactly one "%s"; false for NULL. */
bool slices_name_fits(const char *pattern);

/* Converts `stacks` to samples with times (pj-folded(5)). The slice stays the outermost frame. The number of lost
 * samples of a slice becomes the weight of a frame [lost] below the frame of the slice. A sample without any other
 * frame gets the frame [unknown]. A frame named [lost] directly below a slice becomes _lost_: a process may have any
 * name, and must not pass for losses. Dies if the sum of all weights exceeds 63 bits. */
void slices_complete(struct stacks *stacks, const struct slices_lost *lost);

/* Writes one file for each slice of `stacks` that has a weight, and returns the number of files. The path is `pattern`
 * with "%s" replaced by the name of the slice. header: header of all files, in which each file has the samples, losses
 * and times of its slice; NULL: none. With a header, a slice that has only losses gets a file, too. Subtrees with a
 * weight below min_samples become [other]. */
uint64_t slices_write(const char *pattern, const struct stacks *stacks, const struct folded_header *header,
		      const struct slices_lost *lost, uint64_t min_samples);

#endif
