/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale.h - one column scaled to a total, in whole numbers that add up to exactly that.
 *
 * Largest remainder: every weight is rounded down, and those that lost most get one more until the total is right
 * (equal losses: in the order of the text). So each is less than one off. Scaled up, no weight becomes 0; scaled down,
 * one that is worth less than a whole may.
 */
#ifndef PJ_SCALE_H
#define PJ_SCALE_H

#include "common/stacks.h"

/* Scales column 0 of stacks to the total of column 1. Returns false without a change if one of them is 0. */
bool scale_column(struct stacks *stacks);

#endif
