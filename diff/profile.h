/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - adds all windows of both sides to one tree with two columns, and measures how much the weight of a node
 * or function scatters from window to window.
 *
 * Windows are added one by one and freed, so memory does not grow with their number. The measure of scatter is the sum
 * of weight^2 / total of the window over the windows of a side, for each node and each function.
 */
#ifndef PJ_PROFILE_H
#define PJ_PROFILE_H

#include "diff/normalname.h"
#include "common/stacks.h"

struct profile {
	struct normalname normalname;
	bool scatter;    /* true if a side has several windows, so that the scatter of their weights is measured */
	struct stacks s; /* after profile_end: tree with final names; column 0: weights before, column 1: after */
	/* Tree with names as read from the input: of the current window if `scatter` is true, otherwise of all windows
	 * of both sides. */
	struct stacks raw;
	uint64_t raw_sum;    /* sum of the weights in `raw` before the current window was read */
	unsigned windows[2]; /* number of windows with weight, by side */
	/* by side and node: sum over the windows of weight^2 / total of the window; NULL without scatter */
	double *node[2];
	/* by side and frame: sum over the windows of weight^2 / total of the window; weight: total weight of the
	 * function over all its nodes, with recursion counted once. NULL without scatter */
	double *frame[2];
	/* nnode: number of elements of node[i]; nframe: number of elements of frame[i] */
	uint32_t nnode, nframe;
	double (*kind)[NORMALNAME_KINDS]; /* by frame: weight of its code, by kind of code */
	uint32_t nkind;                   /* number of elements of kind */
};

/* Returns a tree, owned by profile, to which the caller adds the weights of one window of side 0 (before) or 1 (after),
 * always as column 0. The caller must then call profile_read. */
struct stacks *profile_window(struct profile *profile, unsigned side);

/* To be called after the caller filled the tree that profile_window returned: counts the window, and adds its weights
 * to the profile. side: the same as in profile_window. Returns false if the sum of all weights would exceed 63 bits. */
bool profile_read(struct profile *profile, unsigned side);

/* Adds a window to side 0 (before) or 1 (after). Returns false if the sum of all weights would exceed 63 bits. */
bool profile_add(struct profile *profile, unsigned side, const struct stacks *window);

/* Completes the profile after the last window: appends to the name of each frame the suffix of the kind with the
 * largest weight. */
void profile_end(struct profile *profile);

void profile_free(struct profile *profile);

#endif
