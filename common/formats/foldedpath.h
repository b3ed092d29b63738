/* SPDX-License-Identifier: Apache-2.0 */
/* foldedpath.h - finds the nodes of stacks that are read one after the other, with few lookups. Folded text is mostly
 * sorted, so a stack shares most of its frames with the previous stack, whose nodes are stored. */
#ifndef PJ_FOLDEDPATH_H
#define PJ_FOLDEDPATH_H

#include "common/stacks.h"

struct path {
	struct stacks *s;
	bool along;    /* true: the tree is sorted, so that frames in order need no lookup */
	bool in_order; /* true if all stacks so far were in order */
	/* While at least this number of steps is shared, frames are looked up, as they are not in order. SIZE_MAX: in
	 * order. */
	size_t loose;
	uint32_t base;   /* number of nodes before this text, with the root */
	uint32_t cursor; /* first of these nodes that the walk has not passed */
	struct path_step {
		size_t end; /* position of the frame's end in the text of the previous stack */
		uint32_t node;
		uint32_t last; /* the greatest sibling of node in this text so far, by bytes */
	} * step;
	size_t nsteps, steps_cap;
	uint32_t *frame; /* ids of the stack's frames from the first one that differs from the previous stack */
	size_t frames_cap;
	struct path_guess {
		/* ids of the frames that followed this one last time: as callee, and as next sibling */
		uint32_t callee, sibling;
	} * guess; /* by id of a frame */
	uint32_t nguesses;
};

void path_begin(struct path *path, struct stacks *stacks); /* begins a text */

/* Returns the node of the stack "a;b;c", and adds missing nodes. same: number of bytes in which this stack and the
 * previous one begin alike, or PATH_UNKNOWN. */
uint32_t path_to(struct path *path, struct str stack, size_t same);
#define PATH_UNKNOWN SIZE_MAX

void path_end(struct path *path); /* ends the text; frees the arrays of path */

#endif
