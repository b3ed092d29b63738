/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/noise.h"

#include <math.h>
#include <stdlib.h>

#define SHARE_LEAST 0.002
#define SHARE_LIMIT 0.95
#define NODES_LEAST 20
#define PRIOR_DF 4.0
#define MEDIAN_CHI2 0.4549 /* median of the chi-squared distribution with one degree of freedom */
#define DISPERSION_MAX 1e6

static double noise_share(const struct sig_rule *rule, uint64_t a, uint64_t b)
{
	return ((double)a + (double)b) / ((double)rule->sum[0] + (double)rule->sum[1]);
}

/* Stores in which[] the nodes whose weight is useful for estimates: its share of the total is between SHARE_LEAST and
 * SHARE_LIMIT, and it differs from the weight of the caller. Returns the number of these nodes. */
static uint32_t noise_informative(const struct profile *profile, const struct sig_rule *rule, uint64_t *const total[2],
				  uint32_t *which)
{
	uint32_t n = 0;

	for (uint32_t id = 1; id < profile->s.n; id++) {
		uint32_t up = profile->s.node[id].parent;
		double s = noise_share(rule, total[0][id], total[1][id]);

		if (s >= SHARE_LEAST && s <= SHARE_LIMIT &&
		    (total[0][id] != total[0][up] || total[1][id] != total[1][up]))
			which[n++] = id;
	}
	return n;
}

/* ---- dispersion from window to window ---------------------------------------------------------------------------- */

/* Returns Pearson's chi-squared of one node's weights in the windows of a side, multiplied by p(1-p); p: share of the
 * node. sum2 is the sum of x^2/T over the windows, with x = weight of the node in the window and T = total of the
 * window. weight and sum are the sums of x and T. */
static double noise_chi2(double sum2, uint64_t weight, uint64_t sum)
{
	double x = sum ? sum2 - (double)weight * ((double)weight / (double)sum) : 0;

	return x > 0 ? x : 0; /* rounding can make x slightly negative */
}

static double dispersion_of(const struct sig_rule *rule, double df, uint64_t a, uint64_t b, double sum2_a,
			    double sum2_b)
{
	double p = noise_share(rule, a, b), v = p < 1 ? p * (1 - p) : 0, phi;

	if (!(v > 0))
		return 0;
	phi = (noise_chi2(sum2_a, a, rule->sum[0]) + noise_chi2(sum2_b, b, rule->sum[1])) / (v * df);
	return phi < 1 ? 1 : phi > DISPERSION_MAX ? DISPERSION_MAX : phi;
}

static int float_cmp(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static double noise_median(const float *by_node, const uint32_t *which, uint32_t n)
{
	float *sorted = mem_alloc(sizeof(*sorted), n);
	double middle = 1;

	for (uint32_t i = 0; i < n; i++)
		sorted[i] = by_node[which[i]];
	if (n) {
		qsort(sorted, n, sizeof(*sorted), float_cmp);
		middle = (double)sorted[n / 2];
	}
	free(sorted);
	return middle < 1 ? 1 : middle;
}

/* Empirical Bayes: moves the n estimates phi[] towards `to`, the median dispersion of the informative nodes, by the
 * fraction PRIOR_DF / (PRIOR_DF + df) of the distance. df: degrees of freedom: windows minus 1, summed over both sides.
 * An estimate of 0 stands for no estimate and becomes `to`. */
static void noise_shrink(float *phi, uint32_t n, double to, double df)
{
	for (uint32_t i = 0; i < n; i++) {
		double own = phi[i] > 0 ? (double)phi[i] : to;

		phi[i] = (float)((PRIOR_DF * to + df * own) / (PRIOR_DF + df));
	}
}

void noise_dispersion(struct noise *noise, const struct profile *profile, const struct sig_rule *rule)
{
	double df = 0;
	uint64_t *total[2];
	struct sig_rule none = *rule;
	struct sig_function *function;
	uint32_t *which;

	*noise = (struct noise){ .dispersion = 1 };
	for (unsigned side = 0; side < 2; side++)
		df += profile->windows[side] ? profile->windows[side] - 1 : 0;
	if (!profile->scatter || df <= 0)
		return;
	total[0] = stacks_totals(&profile->s, 0);
	total[1] = stacks_totals(&profile->s, 1);
	which = mem_alloc(sizeof(*which), profile->s.n);
	noise->node = mem_alloc(sizeof(*noise->node), profile->s.n);
	noise->frame = mem_alloc(sizeof(*noise->frame), (size_t)profile->s.frames.n + 1);
	for (uint32_t id = 1; id < profile->s.n; id++)
		noise->node[id] = (float)dispersion_of(rule, df, total[0][id], total[1][id], profile->node[0][id],
						       profile->node[1][id]);
	/* sig_functions is called only for its sums of weights; its comparisons are not used, and none can report a
	 * change of 1000 points */
	none.points = 1000;
	function = sig_functions(&none, &profile->s, NULL);
	for (uint32_t id = 1; id <= profile->s.frames.n; id++)
		noise->frame[id] = (float)dispersion_of(rule, df, function[id].total[0], function[id].total[1],
							profile->frame[0][id], profile->frame[1][id]);
	free(function);
	noise->dispersion = noise_median(noise->node, which, noise_informative(profile, rule, total, which));
	noise_shrink(noise->node, profile->s.n, noise->dispersion, df);
	noise_shrink(noise->frame, profile->s.frames.n + 1, noise->dispersion, df);
	noise->node[0] = (float)noise->dispersion;
	free(which);
	free(total[0]);
	free(total[1]);
}

/* ---- drift from run to run --------------------------------------------------------------------------------------- */

struct distance {
	/* Values of one node. d2: square of the difference between both sides; counting: variance of that difference by
	 * counting noise; drift: variance of that difference by a drift of 1. */
	double d2, counting, drift;
};

/* Returns true if a drift of rho is too small to explain the differences of n nodes: the median of d2 / (counting +
 * rho^2 drift) is above its expected value. Returns false if the drift is large enough. */
static bool too_far(const struct distance *distance, uint32_t n, double rho)
{
	uint32_t below = 0;

	for (uint32_t i = 0; i < n; i++)
		below += distance[i].d2 <= MEDIAN_CHI2 * (distance[i].counting + rho * rho * distance[i].drift);
	return below <= n / 2;
}

double noise_drift(const struct profile *profile, const struct sig_rule *rule)
{
	uint64_t *total[2] = { stacks_totals(&profile->s, 0), stacks_totals(&profile->s, 1) };
	uint32_t *which = mem_alloc(sizeof(*which), profile->s.n), n = noise_informative(profile, rule, total, which);
	struct distance *distance = mem_alloc(sizeof(*distance), n);
	double low = 0, high = NOISE_DRIFT_MAX;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t a = total[0][which[i]], b = total[1][which[i]];
		double d = sig_difference(rule, a, b);

		distance[i] =
			(struct distance){ d * d, sig_variance(rule, a, b, 1, 0), sig_variance(rule, a, b, 0, 1) };
	}
	if (n < NODES_LEAST || !too_far(distance, n, 0)) {
		high = 0;
	} else if (!too_far(distance, n, high)) {
		for (int step = 0; step < 30; step++) {
			double middle = (low + high) / 2;

			if (too_far(distance, n, middle))
				low = middle;
			else
				high = middle;
		}
	}
	free(distance);
	free(which);
	free(total[0]);
	free(total[1]);
	return high;
}

void noise_free(struct noise *noise)
{
	free(noise->node);
	free(noise->frame);
}
