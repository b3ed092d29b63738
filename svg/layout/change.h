/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.h - a differential picture: what of it changed, in which colours, and where what is gone is drawn.
 *
 * Each frame has two results, by shares of the totals and by counts (significance.h); the rule selects the one shown
 * first. Removed stacks have no width after the change. They are drawn in a separate area beside the root, at the same
 * scale, below their callers; only subtrees that are removed with certainty, the rest is one number.
 */
#ifndef PJ_CHANGE_H
#define PJ_CHANGE_H

#include "svg/layout/layout.h"
#include "common/significance.h"

#define CHANGE_STEPS 9 /* of the ramp: less 4..1, no change, more 1..4 */

enum { CHANGE_COUNTS, CHANGE_SHARES, CHANGE_WAYS };

struct change {
	struct sig_rule rule;                     /* shares: what is shown at first */
	struct str note;                          /* visible text: what the reader has to know */
	bool negate;                              /* colours are turned round */
	struct sig_change *assessed[CHANGE_WAYS]; /* by frame of the layout */
	uint64_t *gone_start, *gone_width;        /* by frame, in weights of before; width 0: not in that area */
	uint64_t gone_sum;                        /* weights in the area of removed stacks */
	uint64_t unsure_sum; /* weights of removed stacks that were moved, or whose change is not significant */
	uint32_t gone_depth;
};

/* rule->shares decides what is shown at first. dispersion: by node of stacks, or NULL. */
void change_make(struct change *change, const struct layout *layout, const struct stacks *stacks,
		 const struct sig_rule *rule, const float *dispersion);
void change_free(struct change *change);

const struct sig_change *change_of(const struct change *change, uint32_t frame); /* as shown at first */

/* Step of the ramp, 0..CHANGE_STEPS-1, that a frame is painted with. */
unsigned change_step(const struct change *change, uint32_t frame);
bool change_is_new(const struct change *change, const struct layout *layout, uint32_t frame); /* beyond doubt */
uint32_t change_colour(const struct change *change, unsigned step, bool dark);

#endif
