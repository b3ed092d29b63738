/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - the call tree as arrays by frame, in drawing order.
 *
 * Frames are numbered in preorder, siblings by the bytes of their names; the root has no number. The frames below frame
 * i are i+1 to end[i]-1, so a loop skips a subtree by i = end[i], without recursion. Positions are weights from the
 * root's left edge. A frame's children begin at its left edge and its self weight is to the right of them; in a flame
 * chart, the self weight is where it occurred in time. In a difference, removed frames have a number, but no width.
 */
#ifndef PJ_LAYOUT_H
#define PJ_LAYOUT_H

#include "common/stacks.h"

#define LAYOUT_ROOT UINT32_MAX /* value of `parent` for the outermost frames, whose parent is the root */

struct layout {
	uint32_t n;
	uint32_t depth;  /* largest level of a frame; outermost frames have level 1 */
	uint64_t sum;    /* sum of all self weights, including the root's */
	uint32_t *node;  /* node in `stacks` of each frame */
	uint32_t *frame; /* frame id in `stacks` of each frame */
	uint32_t *parent;
	uint32_t *level; /* level of each frame: number of frames from the outermost frame to this one */
	uint32_t *end;
	uint64_t *start;
	uint64_t *width; /* total weight of each frame */
	uint64_t *self;
	/* in a difference: total weights before (column 0), whereas `width` and `self` are weights after (column 1);
	 * otherwise NULL */
	uint64_t *before;
	uint64_t *before_self;
	uint64_t before_sum;
	/* in a flame chart: self weight of the parent between each frame and its previous sibling, or the parent's
	 * start for the first child; otherwise NULL */
	uint64_t *pause;
};

/* Makes the layout of all frames with weight in any column of stacks. Two columns are a difference, in which `width` is
 * the weight after. The caller frees *layout by layout_free. */
void layout_make(struct layout *layout, const struct stacks *stacks);
void layout_free(struct layout *layout);

#endif
