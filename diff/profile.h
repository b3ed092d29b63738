/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - all windows of both sides in one tree of two columns, and how much they scatter.
 *
 * Windows are added one after the other and forgotten: memory does not grow with their number. What is kept of their
 * scatter is one sum a side, of weight^2 / total of the window, by node and by function.
 */
#ifndef PJ_PROFILE_H
#define PJ_PROFILE_H

#include "diff/normalname.h"
#include "common/stacks.h"

struct profile {
	struct normalname normalname;
	bool scatter; /* several windows are added: store sums */
	struct stacks s;
	struct stacks raw;                /* names as read: a window, or without scatter both sides */
	uint64_t raw_sum;                 /* sum of raw before the window */
	unsigned windows[2];              /* number of windows with weight, by side */
	double *node[2];                  /* sums, by node; NULL without scatter */
	double *frame[2];                 /* by frame: a function in all its places, recursion counted once */
	uint32_t nnode, nframe;           /* values there */
	double (*kind)[NORMALNAME_KINDS]; /* by frame: weight of each kind of its code */
	uint32_t nkind;
};

/* Returns the tree into which the caller reads a window of side 0 (before) or 1 (after), in column 0. Then it calls
 * profile_read. */
struct stacks *profile_window(struct profile *profile, unsigned side);

/* Adds the window that was read. Returns false if the sum of all weights exceeds 63 bits. */
bool profile_read(struct profile *profile, unsigned side);

/* Adds a window to side 0 (before) or 1 (after). False when the sum of all weights does not fit into 63 bits. */
bool profile_add(struct profile *profile, unsigned side, const struct stacks *window);

/* Gives each frame the suffix of its kind with most weight. To be called after all windows are added. */
void profile_end(struct profile *profile);

void profile_free(struct profile *profile);

#endif
