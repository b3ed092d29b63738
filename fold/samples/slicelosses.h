/* SPDX-License-Identifier: Apache-2.0 */
/* slicelosses.h - numbers of lost samples or records by time slice (--time-slice). */
#ifndef PJ_SLICELOSSES_H
#define PJ_SLICELOSSES_H

#include "common/intern.h"

/* All zero is empty. */
struct slices_lost {
	struct intern names;
	/* Number of losses by id of the slice in `names`; cap is the number of entries. */
	uint64_t *n;
	size_t cap;
	/* Sum of the losses of all slices. */
	uint64_t sum;
};

/* Adds n losses to the slice `name`. */
void slices_lose(struct slices_lost *lost, struct str name, uint64_t n);
/* Adds the losses of `more` to `lost`. */
void slices_lost_add(struct slices_lost *lost, const struct slices_lost *more);
void slices_lost_free(struct slices_lost *lost);

#endif
