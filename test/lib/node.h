/* node.h - returns the node of a stack that a test writes as "a;b;c"; adds missing nodes. */
#ifndef PJ_TEST_NODE_H
#define PJ_TEST_NODE_H

#include "common/stacks.h"

static inline uint32_t node_of(struct stacks *stacks, struct str stack)
{
	uint32_t node = 0;
	size_t n;

	do {
		n = stack.n;
		struct str frame = str_cut(&stack, ';');
		node = stacks_child(stacks, node, stacks_frame(stacks, frame));
		n -= frame.n;
	} while (n); /* n is 1 if a ';' followed the frame */
	return node;
}

#endif
