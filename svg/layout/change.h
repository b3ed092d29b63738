/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.h - the changes in a differential picture: test results of frames, their colours, and the area of removed
 * frames.
 *
 * Each frame has two results, by shares of the totals and by counts (significance.h); the rule selects the result that
 * is shown first. Removed stacks have no weight after, so they have no width in the graph. They are drawn in a separate
 * area beside the root, with their callers and at the same scale. That area shows only subtrees whose removal is
 * significant; the weight of other removed stacks is reported as one number.
 */
#ifndef PJ_CHANGE_H
#define PJ_CHANGE_H

#include "svg/layout/layout.h"
#include "common/significance.h"

#define CHANGE_STEPS 9 /* number of steps of the colour scale: 4 for less, 1 for no change, 4 for more */

enum { CHANGE_COUNTS, CHANGE_SHARES, CHANGE_WAYS };

struct change {
	/* rule of the tests; rule.shares: true: the results by shares are shown first; false: the results by counts */
	struct sig_rule rule;
	struct str note; /* note for the reader below the colour scale; visible text (visible.h) */
	bool negate;     /* true if the colours of increases and decreases are swapped */
	/* test results by counts and by shares, each an array by frame of the layout */
	struct sig_change *assessed[CHANGE_WAYS];
	/* position in the area of removed frames, in weights before, by frame; gone_start: left end; gone_width: width,
	 * 0 if the frame is not in the area of removed frames */
	uint64_t *gone_start, *gone_width;
	uint64_t gone_sum; /* weight before of all stacks in the area of removed frames */
	/* weight before of the removed stacks that are not in the area of removed frames: their code moved, or the
	 * change is not significant */
	uint64_t unsure_sum;
	uint32_t gone_depth; /* largest level of a frame in the area of removed frames; 0 if there are none */
};

/* Tests all frames for changes and computes the area of removed frames. rule->shares selects the results that are shown
 * first. dispersion: one value for each node of stacks; NULL: none. The caller frees *change by change_free. */
void change_make(struct change *change, const struct layout *layout, const struct stacks *stacks,
		 const struct sig_rule *rule, const float *dispersion);
void change_free(struct change *change);

/* Returns the test result of a frame that is shown first (rule.shares). */
const struct sig_change *change_of(const struct change *change, uint32_t frame);

/* Returns the step of the colour scale of a frame, 0 to CHANGE_STEPS - 1. */
unsigned change_step(const struct change *change, uint32_t frame);
/* Returns true if a frame has weight only after, and if this change is significant; otherwise false. */
bool change_is_new(const struct change *change, const struct layout *layout, uint32_t frame);
/* Returns the colour of a step, 0xRRGGBB, for a dark or a light background. */
uint32_t change_colour(const struct change *change, unsigned step, bool dark);

#endif
