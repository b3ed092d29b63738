/* SPDX-License-Identifier: Apache-2.0 */
/* reroot.h - transforms stacks: cuts them below a frame, or reverses them. */
#ifndef PJ_REROOT_H
#define PJ_REROOT_H

#include "common/stacks.h"

/* The transformation. base: names of the nbase frames at which stacks are cut, with or without suffix; reverse: also
 * reverse the stacks. */
struct reroot {
	const char *const *base;
	size_t nbase;
	bool reverse;
};

/* Result of reroot_stacks: stacks that were left out because they have none of the frames of reroot.base. */
struct reroot_dropped {
	uint64_t stacks;
	uint64_t weight; /* sum of the weights of these stacks in all columns */
};

/* Adds src's stacks to dst, in the order of time if both are in time. Each stack is cut: the base frame that is nearest
 * to its leaf becomes the outermost frame. Then the stack is reversed if how->reverse is set. Returns the stacks that
 * were left out. */
struct reroot_dropped reroot_stacks(struct stacks *dst, const struct stacks *src, const struct reroot *how);

#endif
