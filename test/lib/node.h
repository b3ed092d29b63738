/* node.h - the node of a stack that a test names: "a;b;c", new if need be. */
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
	} while (n); /* a ';' stood behind it */
	return node;
}

#endif
