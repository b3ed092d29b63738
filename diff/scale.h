/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale.h - scales one column to the total of the other column, in integers whose sum is exactly that total.
 *
 * Uses the largest-remainder method: rounds every scaled weight down; then adds one to each of the weights with the
 * largest remainders until the sum is right (equal remainders: in the order of the folded text). So each weight differs
 * from its exact scaled value by less than one. When a column is scaled down, a weight may become 0.
 */
#ifndef PJ_SCALE_H
#define PJ_SCALE_H

#include "common/stacks.h"

/* Scales column 0 of stacks to the sum of column 1. Returns false, and changes nothing, if one of the sums is 0. */
bool scale_column(struct stacks *stacks);

#endif
