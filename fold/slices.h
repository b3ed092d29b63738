/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.h - --time-slice: one output for every N seconds.
 *
 * While a recording is read, slices are the outermost frames of the tree: "%s", the second at which a slice begins. Here
 * each becomes a file of its own.
 */
#ifndef PJ_SLICES_H
#define PJ_SLICES_H

#include "folded.h"

/* Does an output's name have its one %s? */
bool slices_name_fits(const char *pattern);

/* Writes every slice of s that holds anything; returns how many there were. h: header of all of them, or NULL; its counts and
 * times are set for each. */
uint64_t slices_write(const char *pattern, const struct stacks *s, const struct folded_header *h, uint64_t min_samples);

#endif
