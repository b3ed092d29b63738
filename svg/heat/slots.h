/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.h - separates the times from stacks: the result is one call tree without times, and the weights of its frames
 * at each time.
 *
 * Input are stacks whose outermost frame is a time (pj-folded(5)). The self weight of a frame [lost] directly below a
 * time is a number of lost samples and not part of the tree. Stacks without a time are left out, and their weight is
 * summed. Memory grows with the number of distinct stacks in the input, not with their time range.
 */
#ifndef PJ_SLOTS_H
#define PJ_SLOTS_H

#include "svg/layout/layout.h"

struct slots_item {
	uint32_t time;  /* index of the time in slots.ns; after heatmap_make, index of the slot in heatmap.slot */
	uint32_t frame; /* node in the tree; after slots_number, frame of the layout */
	uint64_t weight;
};

struct slots {
	struct stacks tree; /* all stacks, without their times */
	size_t ntimes;
	uint64_t *ns;   /* distinct times in ns, ascending */
	uint64_t *lost; /* by time: number of lost samples */
	size_t n;
	struct slots_item *item;  /* weights, unsorted; after slots_number sorted by time */
	uint64_t untimed;         /* weight of the stacks without a time, which are left out */
	struct str first_untimed; /* outermost frame of the first stack without a time; points into the input */
	uint64_t lost_sum;
};

/* Separates the times from `stacks`, which have one column. The caller frees *slots by slots_free. */
void slots_make(struct slots *slots, const struct stacks *stacks);

/* Replaces the node in each item by its frame in `layout`, which was made from slots->tree, and sorts the items by
 * time. */
void slots_number(struct slots *slots, const struct layout *layout);

void slots_free(struct slots *slots);

#endif
