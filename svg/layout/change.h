/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.h - the changes in a differential picture: test results of frames, their colours, and the area of removed
 * frames.
 *
 * Each frame has two results, by shares of the totals and by counts (significance.h); the rule selects the one shown
 * first. Removed stacks have no width after the change. They are drawn in a separate area beside the root, at the same
 * scale, below their callers; only subtrees that are removed with certainty, the rest is one number.
 */
#ifndef PJ_CHANGE_H
#define PJ_CHANGE_H

#include "svg/layout/layout.h"
#include "common/significance.h"

#define CHANGE_STEPS 9 /* number of steps of the colour scale: less 4 to 1, no change, more 1 to 4 */

enum { CHANGE_COUNTS, CHANGE_SHARES, CHANGE_WAYS };

struct change {
	/* rule of the tests; .shares selects the results that are shown first */
	struct sig_rule rule;
	struct str note; /* note for the reader, below the scale; visible text (visible.h) */
	bool negate;     /* true if the colours of more and less are swapped */
	/* test results by counts and by shares; each an array by frame of the layout */
	struct sig_change *assessed[CHANGE_WAYS];
	/* For each frame, left end and width in the area of removed frames, in weights before; width 0: not in that
	 * area. */
	uint64_t *gone_start, *gone_width;
	uint64_t gone_sum; /* weight before of all stacks in the area of removed frames */
	/* Weight before of the removed stacks outside of that area: their code moved, or the change is not
	 * significant. */
	uint64_t unsure_sum;
	uint32_t gone_depth;
};

/* Tests all frames and places the removed ones. rule->shares selects the results that are shown first. dispersion has a
 * number for each node of stacks, or is NULL. */
void change_make(struct change *change, const struct layout *layout, const struct stacks *stacks,
		 const struct sig_rule *rule, const float *dispersion);
void change_free(struct change *change);

/* Returns the test result of a frame that is shown first. */
const struct sig_change *change_of(const struct change *change, uint32_t frame);

/* Returns the step of the colour scale, 0 to CHANGE_STEPS - 1, in which a frame is painted. */
unsigned change_step(const struct change *change, uint32_t frame);
/* Returns true if a frame exists only after, and this change is significant. */
bool change_is_new(const struct change *change, const struct layout *layout, uint32_t frame);
uint32_t change_colour(const struct change *change, unsigned step, bool dark);

#endif
