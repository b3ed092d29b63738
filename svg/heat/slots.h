/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.h - samples with times: stacks whose outermost frame is a time (pj-folded(5)) become one call tree without
 * times, and weights of its frames by time.
 *
 * The self weight of a frame [lost] directly below a time counts lost samples; it is no part of the tree. Stacks
 * without a time are left out and counted. Memory grows with the distinct stacks of the input, never with the time that
 * they span.
 */
#ifndef PJ_SLOTS_H
#define PJ_SLOTS_H

#include "svg/layout/layout.h"

struct slots_item {
	uint32_t time;  /* index in ns; in a heat map (heatmap.h), index of its slot */
	uint32_t frame; /* node in tree; after slots_number, frame of the layout */
	uint64_t weight;
};

struct slots {
	struct stacks tree; /* all stacks, without their times */
	size_t ntimes;
	uint64_t *ns;   /* distinct times, ascending, in ns */
	uint64_t *lost; /* number of lost samples at each time */
	size_t n;
	struct slots_item *item;  /* in no order; after slots_number ascending by time */
	uint64_t untimed;         /* weight of the stacks without a time, which are left out */
	struct str first_untimed; /* outermost frame of the first of them; lives as long as the input */
	uint64_t lost_sum;
};

/* Splits stacks of one column into tree and times. */
void slots_make(struct slots *slots, const struct stacks *stacks);

/* Replaces the nodes of all items by their frames in `layout`, which was made from slots->tree, and sorts the items. */
void slots_number(struct slots *slots, const struct layout *layout);

void slots_free(struct slots *slots);

#endif
