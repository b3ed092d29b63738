/* SPDX-License-Identifier: Apache-2.0 */
/*
 * significance.h - decides which differences between two profiles are changes of the program, and which are noise.
 *
 * Weights are total weights: of a frame with all that it calls. Noise has three parts. Counting: numbers of samples
 * scatter as in a Poisson distribution. Dispersion: from window to window, weights scatter more than that, by a factor
 * that several windows on each side show. Drift: runs of one program differ by more than its windows do (other
 * inlining, other scheduling); it is estimated from most of the frames. A change is reported if it is larger than the
 * noise and large enough to matter. If the code of a frame costs the same and only its callers changed, the frame is
 * moved, not changed.
 *
 * Formulas for weights a (before) and b (after) of totals A and B, p = (a+b)/(A+B), dispersion f, drift r:
 *   shares  d = b/B - a/A, variance f p(1-p) (1/A + 1/B) + (r p(1-p))^2
 *   counts  d = b - a,     variance f (a+b) + (r (a+b)/2)^2; in points: relative to the larger total
 *   z = |d| / sqrt(variance)
 * If one side has no weight, it has no shares, so counts are compared.
 *
 * A function that rises (falls) by D is moved if the code that it runs falls (rises) elsewhere: take all functions that
 * have self weight in stacks with this function; the sum of their self weights in stacks without it must fall (rise) by
 * D/3 or more. The effect of a changed total is subtracted first. If the function is moved, calls were inlined or
 * scheduled in another way. A node is moved in three cases: its function is moved in the same direction; or the node is
 * new or gone, and its caller is moved in the same direction; or the node is new or gone, and its function as a whole
 * changed in this direction by less than a third of the node's weight.
 */
#ifndef PJ_SIGNIFICANCE_H
#define PJ_SIGNIFICANCE_H

#include "common/stacks.h"

/* Default values of the members z, points and relative of struct sig_rule. */
#define SIG_Z 2
#define SIG_POINTS 0.5
#define SIG_RELATIVE 0.01

struct sig_rule {
	double z;          /* smallest |z| of a change; 0: noise is not tested, only points and relative decide */
	double points;     /* smallest change in points, that is in percent of the total */
	double relative;   /* smallest change relative to the larger side, 0 to 1 */
	double dispersion; /* dispersion (variance / mean) of nodes without a dispersion of their own; 1: Poisson */
	double drift;      /* drift: relative standard deviation from run to run, 0 to 1 */
	bool shares;       /* true: compare shares of the totals; false: compare counts */
	/* true if weights are counts of samples; false: noise is not tested, since z has no meaning */
	bool counted;
	uint64_t sum[2]; /* sum of all weights of the profile before [0] and after [1] */
};

/* Result of a comparison. SIG_SMALL: the change is real but below rule.points or rule.relative. SIG_MOVED: only the
 * callers changed. */
enum sig_why { SIG_NOISE, SIG_SMALL, SIG_MOVED, SIG_CHANGED };

struct sig_change {
	enum sig_why why;
	bool less;      /* true if the weight (or share) after the change is less than before */
	uint8_t level;  /* size of the change, 1 to 4, for colours (docs/SVG.md); 0 unless why is SIG_CHANGED */
	float z;        /* |difference| / standard deviation; 0 if noise was not tested */
	float points;   /* difference, after minus before, in percent of the total */
	float relative; /* |difference| / larger side, 0 to 1 */
};

/* Returns true if shares are compared by default: if the totals differ by more than 2 % of the larger one. */
bool sig_by_shares(uint64_t before, uint64_t after);

/* Returns true if weights of this unit are counts of samples. An empty unit is unknown and treated as samples. Other
 * weights, such as sums of ns, bytes or cycles, have unknown noise. */
bool sig_counted(struct str unit);

/* Compares the weights of one node or function, before and after. dispersion: of this node or function; 0:
 * rule->dispersion; values below 1 count as 1. Never returns SIG_MOVED, since that needs the tree. Pure. */
struct sig_change sig_compare(const struct sig_rule *rule, uint64_t before, uint64_t after, double dispersion);

/* For estimates of dispersion and drift: the values from which sig_compare computes z. sig_difference returns after
 * minus before, as shares or counts; sig_variance returns the variance of that difference. */
double sig_difference(const struct sig_rule *rule, uint64_t before, uint64_t after);
double sig_variance(const struct sig_rule *rule, uint64_t before, uint64_t after, double dispersion, double drift);

/* Weights of a function, summed over all nodes of its frame. The weight of a recursive call is added once, not for each
 * of its nodes. */
struct sig_function {
	uint64_t total[2]; /* total weights before [0] and after [1] */
	uint64_t self[2];
	struct sig_change change; /* result of the comparison of the total weights */
};

/* Compares every function of stacks. Returns an array by frame id (stacks->frames.n + 1 elements), which the caller
 * frees. dispersion has a dispersion for each frame id, or 0 for rule->dispersion. dispersion NULL: all are 0. */
struct sig_function *sig_functions(const struct sig_rule *rule, const struct stacks *stacks, const float *dispersion);

/* Compares every node of stacks (two columns) except the root. Returns an array by node (stacks->n elements), which the
 * caller frees. dispersion has a dispersion for each node, or 0 for rule->dispersion. dispersion NULL: all are 0. */
struct sig_change *sig_assess(const struct sig_rule *rule, const struct stacks *stacks, const float *dispersion);

#endif
