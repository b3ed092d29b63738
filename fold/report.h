/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - writes the call tree (--tree) and the table of events (--list-events); merges small subtrees
 * (--min-samples).
 */
#ifndef PJ_REPORT_H
#define PJ_REPORT_H

#include "common/filter/out.h"
#include "fold/samples/samples.h"
#include "common/stacks.h"
#include "fold/sortkeys.h"

/*
 * Writes the call tree, callers above callees. A line has total and self weight in percent of the sum of weights, then
 * the frame, then the DSO of the frame if it has one (names_dso). Siblings are in the order `order`, by default by
 * descending total weight. A frame is indented only if its caller has more than one callee, so the width does not grow
 * with the depth of a stack. Callees below `percent` % of the sum of weights get no line of their own; if such callees
 * of one caller together reach `percent` %, one line shows their number and sum.
 */
void report_tree(struct out *out, const struct stacks *stacks, double percent, enum sortkeys_order order);

/* Writes a table of n events, in descending order of their numbers of samples. */
void report_events(struct out *out, const struct samples_event *event, uint32_t n);

/* Fills `stacks` with a copy of `from`, in which one callee [other] of each caller replaces the caller's subtrees with
 * a weight below `min`. The sum of the weights does not change. */
void report_min(struct stacks *stacks, const struct stacks *from, uint64_t min);

#endif
