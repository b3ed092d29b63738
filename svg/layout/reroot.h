/* SPDX-License-Identifier: Apache-2.0 */
/* reroot.h - transforms stacks: cuts them below a frame, or reverses them. */
#ifndef PJ_REROOT_H
#define PJ_REROOT_H

#include "common/stacks.h"

/* The frames at which stacks are cut: their names, complete or without suffix. */
struct reroot {
	const char *const *base;
	size_t nbase;
	bool reverse;
};

/* Stacks without any of the frames at which stacks are cut. */
struct reroot_dropped {
	uint64_t stacks;
	uint64_t weight; /* weight of all columns */
};

/* Adds src's stacks to dst, in the order of time when both are in time: without what is outside of the base frame
 * nearest to their end, then from their end on when `reverse`. */
struct reroot_dropped reroot_stacks(struct stacks *dst, const struct stacks *src, const struct reroot *how);

#endif
