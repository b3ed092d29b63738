/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quality.h - reports on the quality of a recording: unnamed frames with the reason, incomplete stacks with a remedy.
 */
#ifndef PJ_QUALITY_H
#define PJ_QUALITY_H

#include "common/filter/out.h"
#include "fold/recording.h"

/* Writes the table of --unresolved: one row for each DSO and reason, with the number of unnamed frames, their share of
 * all frames, the DSO and the reason. */
void quality_missing(struct out *out, const struct recording_tally *tally, const struct samples *samples);

/* Writes the table of --stacks: one row for each first frame, mostly a process, with the shares of complete, truncated,
 * broken and unknown stacks, of stacks of one frame, and of unnamed frames. A row for all samples follows, and for
 * off-CPU events a table of the off-CPU time. event: name of the event. */
void quality_stacks(struct out *out, const struct recording_tally *tally, struct str event);

/* Prints the lines of --verbose about stacks: the shares of complete, truncated, broken and unknown stacks, and a
 * remedy for the process with the most stacks of a single frame. event: name of the event, on which the remedy
 * depends. */
void quality_print(const struct recording_tally *tally, struct str event);

#endif
