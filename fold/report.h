/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - reports in place of folded stacks: the call tree, the events; and the merge of small subtrees.
 */
#ifndef PJ_REPORT_H
#define PJ_REPORT_H

#include "common/filter/out.h"
#include "fold/samples/samples.h"
#include "common/stacks.h"
#include "fold/sortkeys.h"

/*
 * Writes the call tree, callers above callees: total and self weight as percentages, siblings in the given order, by
 * default by descending total. A frame with a DSO (names_dso) has it behind its name. A
 * frame is indented only if its caller has more than one callee, so the width does not grow with the depth of a stack.
 * Callees below `percent` % of the sum of weights get no line of their own; if those of one caller together reach
 * `percent`, one line shows their number and sum.
 */
void report_tree(struct out *out, const struct stacks *stacks, double percent, enum sortkeys_order order);

/* Writes a table of the n events, the most samples first. */
void report_events(struct out *out, const struct samples_event *event, uint32_t n);

/* Fills `stacks` with a copy of `from` in which each subtree of a weight below `min` is a frame [other] of its caller.
 * The sum of the weights does not change. */
void report_min(struct stacks *stacks, const struct stacks *from, uint64_t min);

#endif
