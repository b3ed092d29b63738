/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quality.h - reports on the quality of a recording: frames without names and the reason, incomplete stacks and a
 * remedy.
 */
#ifndef PJ_QUALITY_H
#define PJ_QUALITY_H

#include "common/filter/out.h"
#include "fold/recording.h"

/* Writes the table of --unresolved, a row for each DSO and reason: number of frames without a name, their share of all
 * frames, DSO, reason. */
void quality_missing(struct out *out, const struct recording_tally *tally, const struct samples *samples);

/* Writes the table of --stacks, a row for each first frame: shares of complete, truncated, broken and unknown stacks,
 * and of frames without a name. */
void quality_stacks(struct out *out, const struct recording_tally *tally, struct str event);

/* Prints lines of --verbose: the shares of complete, truncated and possibly complete stacks, and a remedy for the
 * process with the most stacks of a single frame. The remedy depends on the name of the event. */
void quality_print(const struct recording_tally *tally, struct str event);

#endif
