/* SPDX-License-Identifier: Apache-2.0 */
/*
 * significance.h - tests which changes between two profiles are real and which are noise.
 *
 * Counts of samples have known noise (Poisson), times a dispersion that several windows a side reveal; runs of one
 * program differ by more than that (other inlining, other scheduling): a drift, estimated from the bulk of the frames.
 * A change counts when it is both larger than the noise and large enough to matter. A frame whose code costs the same
 * and is only reached another way was moved, not changed. Weights are inclusive: a frame with all that it calls.
 *
 * With weights a, b of totals A, B, p = (a+b)/(A+B), dispersion f, drift r:
 *   shares  d = b/B - a/A, variance f p(1-p) (1/A + 1/B) + (r p(1-p))^2
 *   counts  d = b - a,     variance f (a+b) + (r (a+b)/2)^2, and of the larger total when it is in points
 *   z = |d| / sqrt(variance). An empty side has no shares: counts are compared.
 * Moved: when a function rises (falls) by D, the self weights of all functions that run under it are looked up outside
 * of it; when they fall (rise) there by a third of D or more, beyond what a changed total explains, then calls were
 * inlined or scheduled another way. A node is moved when its function is, in the same direction, or when it is new or
 * gone under a caller that is moved so, or when it is new or gone while its function as a whole changed by less than a
 * third of that.
 */
#ifndef PJ_SIGNIFICANCE_H
#define PJ_SIGNIFICANCE_H

#include "common/stacks.h"

/* Default values of sig_rule.z, .points and .relative. */
#define SIG_Z 2
#define SIG_POINTS 0.5
#define SIG_RELATIVE 0.01

struct sig_rule {
	double z;          /* least |z| of a change; 0: no test for noise, only points and relative decide */
	double points;     /* least change in points: percent of the total */
	double relative;   /* least change relative to the larger side, 0 to 1 */
	double dispersion; /* variance / mean of counts that have no dispersion of their own; 1: Poisson */
	double drift;      /* relative standard deviation from run to run, 0 to 1 */
	bool shares;       /* true: compare shares of the totals; false: compare counts */
	/* true if weights are counts of samples; otherwise z has no meaning and noise is not tested */
	bool counted;
	uint64_t sum[2]; /* sum of all weights before [0] and after [1] */
};

/* SIG_SMALL: the change is below rule.points or rule.relative */
enum sig_why { SIG_NOISE, SIG_SMALL, SIG_MOVED, SIG_CHANGED };

struct sig_change {
	enum sig_why why;
	bool less;      /* true if the weight after is less than that before */
	uint8_t level;  /* size of the change for colours, 1 to 4 (docs/SVG.md); 0 unless why is SIG_CHANGED */
	float z;        /* |difference| / standard deviation; 0 if it was not tested */
	float points;   /* after minus before in percent of the total */
	float relative; /* |difference| / larger side */
};

/* Returns the default of sig_rule.shares: true if the totals differ by more than 2 % of the larger one. */
bool sig_by_shares(uint64_t before, uint64_t after);

/* Returns true if weights of this unit are counts of samples; an empty unit is unknown and counts as samples. Sums of
 * ns, bytes or cycles have unknown noise. */
bool sig_counted(struct str unit);

/* Compares the weights of one node or function. dispersion 0: rule->dispersion is used. Pure. */
struct sig_change sig_compare(const struct sig_rule *rule, uint64_t before, uint64_t after, double dispersion);

/* Parts of the comparison, for estimates of dispersion and drift. sig_difference returns after minus before, in shares
 * or counts; sig_variance returns the variance of that difference. */
double sig_difference(const struct sig_rule *rule, uint64_t before, uint64_t after);
double sig_variance(const struct sig_rule *rule, uint64_t before, uint64_t after, double dispersion, double drift);

/* The weights of a function: of its frame in all places of the tree. Recursion counts once. */
struct sig_function {
	uint64_t total[2]; /* total weights before and after */
	uint64_t self[2];
	struct sig_change change; /* result for the total weights */
};

/* Compares every function of stacks. Returns an array by frame id (stacks->frames.n + 1 elements), which the caller
 * frees. dispersion has a number for each frame id, 0 for rule->dispersion; or it is NULL. */
struct sig_function *sig_functions(const struct sig_rule *rule, const struct stacks *stacks, const float *dispersion);

/* Compares every node of stacks (two columns) except the root. Returns an array by node (stacks->n elements), which the
 * caller frees. dispersion has a number for each node, or is NULL. */
struct sig_change *sig_assess(const struct sig_rule *rule, const struct stacks *stacks, const float *dispersion);

#endif
