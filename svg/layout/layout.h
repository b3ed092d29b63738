/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - a call tree as columns of numbers, in drawing order.
 *
 * Frames are numbered in preorder, siblings by the bytes of their names, the root not included. All below frame i are
 * i+1 .. end[i]-1, so a walk skips a subtree with i = end[i] and nothing recurses. A frame's children begin at its
 * own left edge; what is its own (self) is to the right of them, in time where it was. Positions are in weight units
 * from the root's left edge. In a difference, frames that are gone have a place in the order, but no width.
 */
#ifndef PJ_LAYOUT_H
#define PJ_LAYOUT_H

#include "common/stacks.h"

#define LAYOUT_ROOT UINT32_MAX /* parent of the outermost frames */

struct layout {
	uint32_t n;
	uint32_t depth;  /* of the deepest frame; outermost frames have depth 1 */
	uint64_t sum;    /* of all self weights, the root's own included */
	uint32_t *node;  /* in stacks */
	uint32_t *frame; /* id in stacks */
	uint32_t *parent;
	uint32_t *level; /* depth of each */
	uint32_t *end;
	uint64_t *start;
	uint64_t *width; /* self and all below */
	uint64_t *self;
	uint64_t *before; /* in a difference: width in column 0, where those above are of column 1; else NULL */
	uint64_t *before_self;
	uint64_t before_sum;
	uint64_t *pause; /* in time (stacks.h): the parent's own weight between this frame and its sibling before; else
			    NULL */
};

/* Lays out all frames with weight in a column of stacks. Two columns are a difference, drawn as after. */
void layout_make(struct layout *layout, const struct stacks *stacks);
void layout_free(struct layout *layout);

#endif
