/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - reports on a profile other than folded stacks: the hottest frames, the events.
 */
#ifndef PJ_REPORT_H
#define PJ_REPORT_H

#include "common/filter/out.h"
#include "fold/samples/samples.h"
#include "common/stacks.h"

enum report_sort { REPORT_BY_SELF, REPORT_BY_TOTAL, REPORT_BY_NAME };

/* Writes the first n frames in this order: self and total weight as numbers and percentages. A recursive frame counts
 * once for each stack in the total. Frames that differ only in the kind suffix (_[j], _[i]) share one row. */
void report_top(struct out *out, const struct stacks *stacks, uint64_t n, enum report_sort sort);

/*
 * Writes the call tree, callers above callees: total and self weight as percentages, siblings by descending total. A
 * frame is indented only where its caller has more than one callee, so the width does not grow with the depth of a
 * stack. Callees below `percent` of all weight are left out; if their sum is not below it, one line has their number
 * and this sum.
 */
void report_tree(struct out *out, const struct stacks *stacks, double percent);

/* Writes the events, sorted by number of samples. */
void report_events(struct out *out, const struct samples_event *event, uint32_t n);

/* Fills `stacks` with a copy of `from` in which each subtree of a weight below `min` is a frame [other] of its caller.
 * The sum of the weights does not change. */
void report_min(struct stacks *stacks, const struct stacks *from, uint64_t min);

#endif
