/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - all windows of both sides in one tree of two columns, and the scatter of their weights.
 *
 * Windows are added one after the other and forgotten: memory does not grow with their number. For their scatter, the
 * profile has one sum for each side, of weight^2 / total of the window, by node and by function.
 */
#ifndef PJ_PROFILE_H
#define PJ_PROFILE_H

#include "diff/normalname.h"
#include "common/stacks.h"

struct profile {
	struct normalname normalname;
	bool scatter; /* true if several windows are added: sums for their scatter are stored */
	struct stacks s;
	/* Tree with names as they were read: of one window; or, without scatter, of both sides. */
	struct stacks raw;
	uint64_t raw_sum;    /* sum of the weights in raw before the current window */
	unsigned windows[2]; /* number of windows with weight of each side */
	/* for each side and node, sum of weight^2 / total of the window; NULL without scatter */
	double *node[2];
	/* the same for each side and frame, by the weight of the function in all its places; recursion counts once */
	double *frame[2];
	uint32_t nnode, nframe;           /* number of elements of node[i] and frame[i] */
	double (*kind)[NORMALNAME_KINDS]; /* for each frame, weight of each kind of its code */
	uint32_t nkind;
};

/* Returns the tree into which the caller reads a window of side 0 (before) or 1 (after), in column 0. The caller then
 * calls profile_read. */
struct stacks *profile_window(struct profile *profile, unsigned side);

/* Adds the window that the caller has read into the tree. Returns false if the sum of all weights does not fit into 63
 * bits. */
bool profile_read(struct profile *profile, unsigned side);

/* Adds a window to side 0 (before) or 1 (after). Returns false if the sum of all weights does not fit into 63 bits. */
bool profile_add(struct profile *profile, unsigned side, const struct stacks *window);

/* Completes the profile, after all windows are added: gives each frame the suffix of its heaviest kind. */
void profile_end(struct profile *profile);

void profile_free(struct profile *profile);

#endif
