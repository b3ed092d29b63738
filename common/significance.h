/* SPDX-License-Identifier: Apache-2.0 */
/*
 * significance.h - what changed between two profiles, and what only looks like it.
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

/* Default thresholds. */
#define SIG_Z 2
#define SIG_POINTS 0.5
#define SIG_RELATIVE 0.01

struct sig_rule {
	double z;          /* least |z|; 0: no test, the least changes alone decide */
	double points;     /* least change, in points: percent of the total */
	double relative;   /* least change relative to the larger side, 0..1 */
	double dispersion; /* variance over mean of the counts where nothing more is known; 1 is Poisson */
	double drift;      /* standard deviation from run to run, relative; 0..1 */
	bool shares;       /* compare shares of the totals; else counts */
	bool counted;      /* weights are counts of samples; else z means nothing and is not tested */
	uint64_t sum[2];   /* of all weights, before and after */
};

enum sig_why { SIG_NOISE, SIG_SMALL, SIG_MOVED, SIG_CHANGED }; /* SMALL: below the least changes */

struct sig_change {
	enum sig_why why;
	bool less;      /* than before */
	uint8_t level;  /* 0 unless CHANGED; otherwise 1..4, see docs/SVG.md */
	float z;        /* >= 0; 0 where it was not tested */
	float points;   /* with its sign */
	float relative; /* |change| / larger side */
};

/* Returns the default of comparing shares: true if the totals differ by more than 2 % of the larger. */
bool sig_by_shares(uint64_t before, uint64_t after);

/* Returns true if weights of this unit (empty: unknown) are counts of samples. Sums of ns, bytes or cycles have a noise
 * that is not known. */
bool sig_counted(struct str unit);

/* Compares one pair of weights. dispersion 0: that of the rule. Pure. */
struct sig_change sig_compare(const struct sig_rule *rule, uint64_t before, uint64_t after, double dispersion);

/* Return the parts of the comparison, for estimates of dispersion and drift: after minus before, in shares or counts,
 * and its variance. */
double sig_difference(const struct sig_rule *rule, uint64_t before, uint64_t after);
double sig_variance(const struct sig_rule *rule, uint64_t before, uint64_t after, double dispersion, double drift);

/* A function: a frame in all its places, its own calls counted once. */
struct sig_function {
	uint64_t total[2]; /* before and after, with all that it calls */
	uint64_t self[2];
	struct sig_change change; /* of total */
};

/* Assesses every function of stacks. Returns stacks->frames.n + 1 values by frame id, which the caller frees.
 * dispersion: by frame id, 0 for that of the rule; or NULL. */
struct sig_function *sig_functions(const struct sig_rule *rule, const struct stacks *stacks, const float *dispersion);

/* Assesses every node of stacks (two columns) but the root. Returns stacks->n values by node, which the caller frees.
 * dispersion: by node, or NULL. */
struct sig_change *sig_assess(const struct sig_rule *rule, const struct stacks *stacks, const float *dispersion);

#endif
