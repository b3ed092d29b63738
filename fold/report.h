/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - what else than folded stacks can be said of a profile: the hottest frames, the events.
 */
#ifndef PJ_REPORT_H
#define PJ_REPORT_H

#include "common/filter/out.h"
#include "fold/samples/samples.h"
#include "common/stacks.h"

/* The n frames with the largest self weight: self and total, as numbers and shares. A frame counts once per stack in
 * total, however often it calls itself; kinds of one frame (_[j], _[i]) are one. */
void report_top(struct out *out, const struct stacks *stacks, uint64_t n);

/* Events by number of samples. */
void report_events(struct out *out, const struct samples_event *event, uint32_t n);

/* A new tree in which every subtree lighter than min is one frame [other] of its caller. Weights are kept in full. */
void report_min(struct stacks *stacks, const struct stacks *from, uint64_t min);

#endif
