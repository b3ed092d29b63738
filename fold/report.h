/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - reports on a profile other than folded stacks: the hottest frames, the events.
 */
#ifndef PJ_REPORT_H
#define PJ_REPORT_H

#include "common/filter/out.h"
#include "fold/samples/samples.h"
#include "common/stacks.h"

/* Writes the n frames with the largest self weight: self and total weight as numbers and percentages. A recursive frame
 * counts once for each stack in the total. Frames that differ only in the kind suffix (_[j], _[i]) share one row. */
void report_top(struct out *out, const struct stacks *stacks, uint64_t n);

/* Writes the events, sorted by number of samples. */
void report_events(struct out *out, const struct samples_event *event, uint32_t n);

/* Fills `stacks` with a copy of `from` in which each subtree of a weight below `min` is a frame [other] of its caller.
 * The sum of the weights does not change. */
void report_min(struct stacks *stacks, const struct stacks *from, uint64_t min);

#endif
