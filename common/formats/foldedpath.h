/* SPDX-License-Identifier: Apache-2.0 */
/* foldedpath.h - finds the nodes of stacks that are read one after the other, with few lookups. Folded text is mostly
 * sorted, so a stack shares most frames with the previous stack, whose nodes are remembered. */
#ifndef PJ_FOLDEDPATH_H
#define PJ_FOLDEDPATH_H

#include "common/stacks.h"

struct path {
	struct stacks *s;
	bool along;    /* true: the tree is sorted, so frames in sorted order are found or added without a lookup */
	bool in_order; /* true if all stacks so far were in sorted order */
	/* Number of leading steps below which nodes may exist already, because a frame was out of order: stacks that
	 * share these steps with the previous stack need lookups. SIZE_MAX: frames are in order. */
	size_t loose;
	uint32_t base; /* number of nodes (with the root) that the tree had before this text */
	/* first node (an id less than `base`) that the next path_along compares; it only ascends, as frames come in
	 * order */
	uint32_t cursor;
	struct path_step {
		size_t end; /* end of the frame in the text of the previous stack, as an offset */
		uint32_t node;
		/* of `node` and its siblings from this text so far: the one whose frame is last in byte order */
		uint32_t last;
	} * step;
	size_t nsteps, steps_cap;
	uint32_t *frame; /* ids of the frames of the stack, from the first one that differs from the previous stack */
	size_t frames_cap;
	struct path_guess {
		/* ids of the frames that followed this frame last time: as its callee, and as its next sibling */
		uint32_t callee, sibling;
	} * guess; /* guesses by frame id */
	uint32_t nguesses;
};

/* initializes *path for a text whose stacks go into `stacks` */
void path_begin(struct path *path, struct stacks *stacks);

/* Returns the node of the stack "a;b;c"; adds missing nodes. same: length of the common prefix of this stack and the
 * previous one in bytes, or PATH_UNKNOWN. */
uint32_t path_to(struct path *path, struct str stack, size_t same);
#define PATH_UNKNOWN SIZE_MAX

void path_end(struct path *path); /* must be called at the end of the text; frees the memory of path */

#endif
