/* SPDX-License-Identifier: Apache-2.0 */
/* foldedpath.h - finds the nodes of stacks that are read one after the other, with few lookups. Folded text is mostly
 * sorted, so a stack shares most of its frames with the one before it, whose path is stored. */
#ifndef PJ_FOLDEDPATH_H
#define PJ_FOLDEDPATH_H

#include "common/stacks.h"

struct path {
	struct stacks *s;
	bool along;      /* frames in order need no lookup */
	bool in_order;   /* all was */
	size_t loose;    /* frames below this number of steps are looked up */
	uint32_t base;   /* number of nodes that existed before */
	uint32_t cursor; /* the first of these nodes that was not passed */
	struct path_step {
		size_t end; /* end of the frame's text in that of the previous stack */
		uint32_t node;
		uint32_t last; /* last sibling in this text so far, by bytes */
	} * step;
	size_t nsteps, steps_cap;
	uint32_t *frame; /* frames of the stack, from the first that differs */
	size_t frames_cap;
	struct path_guess {
		uint32_t callee, sibling; /* its first callee, and the next callee of its caller */
	} * guess;                        /* by frame: at its last occurrence */
	uint32_t nguesses;
};

void path_begin(struct path *path, struct stacks *stacks); /* a text begins */

/* Returns the node of the stack "a;b;c"; adds it if it does not exist. same: number of bytes in which it and the
 * previous stack begin alike, or PATH_UNKNOWN. */
uint32_t path_to(struct path *path, struct str stack, size_t same);
#define PATH_UNKNOWN SIZE_MAX

void path_end(struct path *path); /* the text is complete; frees path */

#endif
