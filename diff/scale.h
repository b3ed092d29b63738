/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale.h - scales one column to a total, in whole numbers whose sum is exactly that total.
 *
 * Method of the largest remainder: every weight is rounded down; then those that lost most get one more until the sum
 * is right (equal losses: in the order of the text). So each weight differs from its exact value by less than one.
 * Scaled down, a weight of less than one may become 0.
 */
#ifndef PJ_SCALE_H
#define PJ_SCALE_H

#include "common/stacks.h"

/* Scales column 0 of stacks to the sum of column 1. Returns false, without a change, if one of the sums is 0. */
bool scale_column(struct stacks *stacks);

#endif
