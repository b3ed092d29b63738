/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise.h - estimates how much profiles of an unchanged program differ: the dispersion from window to window, and the
 * drift from run to run.
 *
 * The dispersion of a node is the variance of its weight between the windows of a side, divided by the variance of a
 * Poisson count. With few windows, it is moved towards the median of all nodes. The drift is the relative difference
 * between both sides that most nodes have beyond counting noise. Windows of one run share its inlining and scheduling,
 * so their dispersion does not contain the drift.
 */
#ifndef PJ_NOISE_H
#define PJ_NOISE_H

#include "diff/profile.h"
#include "common/significance.h"

#define NOISE_DRIFT_MAX 0.10

struct noise {
	double dispersion; /* median dispersion of all informative nodes, at least 1; 1 if each side has one window */
	float *node;       /* dispersion by node; NULL if each side has one window */
	float *frame;      /* dispersion by frame (function); NULL if each side has one window */
};

/* Estimates dispersions and stores them in *noise, which the caller frees with noise_free. Before the call, all windows
 * must be added to profile, and rule->sum must be set. */
void noise_dispersion(struct noise *noise, const struct profile *profile, const struct sig_rule *rule);

/* Returns the drift as a fraction, 0 to NOISE_DRIFT_MAX: the smallest that explains the differences of most nodes.
 * Returns 0 if counting noise explains them, or if fewer than 20 nodes have enough weight for an estimate. rule->sum
 * and rule->dispersion must be set. */
double noise_drift(const struct profile *profile, const struct sig_rule *rule);

void noise_free(struct noise *noise);

#endif
