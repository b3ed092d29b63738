/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quality.h - how good a recording is, for people: what has no names and why, which stacks are incomplete and what
 * helps.
 */
#ifndef PJ_QUALITY_H
#define PJ_QUALITY_H

#include "common/filter/out.h"
#include "fold/recording.h"

/* --unresolved: DSOs by frames without name, with share of all frames and reason. */
void quality_missing(struct out *out, const struct recording_tally *tally, const struct samples *samples);

/* --stacks: by first frame. */
void quality_stacks(struct out *out, const struct recording_tally *tally);

/* One line about all stacks for the summary, one more about the process that would profit most from a remedy for event.
 */
void quality_print(const struct recording_tally *tally, struct str event);

#endif
