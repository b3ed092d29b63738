/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foldedpath.h - the nodes of stacks that are read one after the other, with few look-ups.
 *
 * Folded text is mostly sorted, so a stack shares most of its frames with the one before it, whose path is stored: only
 * what differs is looked up. While the text is in the order in which we write, what differs is not looked up either: in
 * an empty tree it is new, and in the sorted tree of a text before, the base, it is found by walking along. A frame out
 * of order is looked up with all that it calls; the next ones are in order again after all their siblings
 * before.
 */
#ifndef PJ_FOLDEDPATH_H
#define PJ_FOLDEDPATH_H

#include "common/stacks.h"

struct path {
	struct stacks *s;
	bool along;      /* what is in order is not looked up */
	bool in_order;   /* all was */
	size_t loose;    /* below so many steps all is looked up */
	uint32_t base;   /* nodes that were there before */
	uint32_t cursor; /* the first of them that was not passed */
	struct path_step {
		size_t end; /* of the frame's text in that of the stack before */
		uint32_t node;
		uint32_t last; /* of its siblings in this text so far, by bytes */
	} * step;
	size_t nsteps, steps_cap;
	uint32_t *frame; /* of the stack, from the first that differs */
	size_t frames_cap;
	struct path_guess {
		uint32_t callee, sibling; /* what it called first, and what its caller called next */
	} * guess;                        /* by frame: when it was seen last */
	uint32_t nguesses;
};

void path_begin(struct path *path, struct stacks *stacks); /* a text begins */

/* The node of "a;b;c", new if need be. same: how many bytes it and the stack before begin with alike, or PATH_UNKNOWN.
 */
uint32_t path_to(struct path *path, struct str stack, size_t same);
#define PATH_UNKNOWN SIZE_MAX

void path_end(struct path *path); /* the text is complete; frees path */

#endif
