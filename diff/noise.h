/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise.h - how far profiles differ though nothing changed: dispersion from window to window, drift from run to run.
 *
 * Dispersion is the variance of a node's weight over what counting gives, from the windows of each side, drawn towards
 * the median of all where there are few windows. Drift is what the bulk of the frames differs by between the sides
 * beyond counting: windows of one run share its inlining and scheduling, so dispersion does not see that.
 */
#ifndef PJ_NOISE_H
#define PJ_NOISE_H

#include "diff/profile.h"
#include "common/significance.h"

#define NOISE_DRIFT_MAX 0.10

struct noise {
	double dispersion; /* median; 1 with one window a side */
	float *node;       /* by node; NULL with one window a side */
	float *frame;      /* by frame */
};

/* Estimates dispersion and drift. The caller has set sum, shares and dispersion of rule, and added all windows to
 * profile. */
void noise_dispersion(struct noise *noise, const struct profile *profile, const struct sig_rule *rule);

double noise_drift(const struct profile *profile, const struct sig_rule *rule);

void noise_free(struct noise *noise);

#endif
