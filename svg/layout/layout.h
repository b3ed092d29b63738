/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - a call tree as columns of numbers, in drawing order.
 *
 * Frames are numbered in preorder, siblings by the bytes of their names, the root not included. All frames below frame
 * i are i+1 .. end[i]-1, so a loop skips a subtree with i = end[i], without recursion. A frame's children begin at the
 * frame's left edge; its self weight is to the right of them, or in time where it was. Positions are in weight units
 * from the root's left edge. In a difference, frames that are gone have a place in the order, but no width.
 */
#ifndef PJ_LAYOUT_H
#define PJ_LAYOUT_H

#include "common/stacks.h"

#define LAYOUT_ROOT UINT32_MAX /* parent of the outermost frames: the root */

struct layout {
	uint32_t n;
	uint32_t depth;  /* largest depth of a frame; outermost frames have depth 1 */
	uint64_t sum;    /* sum of all self weights, including that of the root */
	uint32_t *node;  /* node in stacks of each frame */
	uint32_t *frame; /* frame id in stacks of each frame */
	uint32_t *parent;
	uint32_t *level; /* depth of each frame */
	uint32_t *end;
	uint64_t *start;
	uint64_t *width; /* total weight of each frame */
	uint64_t *self;
	/* In a difference: total weights before (column 0), while `width` and `self` are those after (column 1).
	 * Otherwise NULL. */
	uint64_t *before;
	uint64_t *before_self;
	uint64_t before_sum;
	/* In time (stacks.h): self weight of the parent between each frame and the sibling before it. Otherwise
	 * NULL. */
	uint64_t *pause;
};

/* Makes the layout of all frames with weight in any column of stacks. Two columns are a difference, in which widths are
 * weights after. */
void layout_make(struct layout *layout, const struct stacks *stacks);
void layout_free(struct layout *layout);

#endif
