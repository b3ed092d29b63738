/* SPDX-License-Identifier: Apache-2.0 */
/* rounding.h - rounds numbers to integers without libm, which costs each tool 0.1 ms at its start. */
#ifndef PJ_ROUNDING_H
#define PJ_ROUNDING_H

#include "common/base.h"

/* Returns the nearest integer of a number between -2^63 and 2^63; halves are rounded away from 0, as by llround. Rounds
 * by number - truncated, which a double holds exactly; number + 0.5 could itself be rounded up to the next integer. */
static inline int64_t rounded(double number)
{
	int64_t truncated = (int64_t)number;
	double fraction = number - (double)truncated;

	return truncated + (fraction >= .5) - (fraction <= -.5);
}

#endif
