/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quality.h - reports on the quality of a recording: frames without names and the reason, incomplete stacks and a
 * remedy.
 */
#ifndef PJ_QUALITY_H
#define PJ_QUALITY_H

#include "common/filter/out.h"
#include "fold/recording.h"

/* Writes the table of --unresolved: DSOs with frames that have no name, their share of all frames, and the reason. */
void quality_missing(struct out *out, const struct recording_tally *tally, const struct samples *samples);

/* Writes the table of --stacks: completeness of the stacks, a row for each first frame. */
void quality_stacks(struct out *out, const struct recording_tally *tally);

/* Prints one line on all stacks for the summary, and one on the process that would profit most from a remedy. The
 * remedy depends on the event. */
void quality_print(const struct recording_tally *tally, struct str event);

#endif
