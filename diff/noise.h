/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise.h - differences between profiles of an unchanged program: dispersion from window to window, drift from run to
 * run.
 *
 * Dispersion is the variance of a node's weight divided by the variance of counting, from the windows of each side;
 * with few windows it is moved towards the median of all nodes. Drift is the relative difference between the sides that
 * most frames have beyond counting noise: windows of one run share its inlining and scheduling, so their dispersion
 * does not contain that difference.
 */
#ifndef PJ_NOISE_H
#define PJ_NOISE_H

#include "diff/profile.h"
#include "common/significance.h"

#define NOISE_DRIFT_MAX 0.10

struct noise {
	double dispersion; /* median of the dispersions of all informative nodes; 1 with one window a side */
	float *node;       /* dispersion of each node; NULL with one window a side */
	float *frame;      /* dispersion of each frame (function); NULL with one window a side */
};

/* Estimates dispersions into *noise, which noise_free frees. The caller has set rule->sum and added all windows to
 * profile. */
void noise_dispersion(struct noise *noise, const struct profile *profile, const struct sig_rule *rule);

double noise_drift(const struct profile *profile, const struct sig_rule *rule);

void noise_free(struct noise *noise);

#endif
