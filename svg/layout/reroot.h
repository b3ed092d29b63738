/* SPDX-License-Identifier: Apache-2.0 */
/* reroot.h - transforms stacks: cuts them at a frame, or reverses them. */
#ifndef PJ_REROOT_H
#define PJ_REROOT_H

#include "common/stacks.h"

/* The transformation. base: names of the `nbase` frames at which stacks are cut, with or without suffix; 0 names:
 * stacks are not cut. reverse: true if the stacks are also reversed. */
struct reroot {
	const char *const *base;
	size_t nbase;
	bool reverse;
};

/* The stacks that reroot_stacks dropped, because they contain none of the frames in reroot.base. */
struct reroot_dropped {
	uint64_t stacks;
	uint64_t weight; /* sum of the weights of the dropped stacks in all columns */
};

/* Adds the transformed stacks of src to dst. Each stack is cut: the base frame nearest to its leaf becomes the
 * outermost frame. Then it is reversed if how->reverse is set. Stacks stay in the order of time if src and dst are in
 * that order. Returns the stacks that were dropped. */
struct reroot_dropped reroot_stacks(struct stacks *dst, const struct stacks *src, const struct reroot *how);

#endif
