/* SPDX-License-Identifier: Apache-2.0 */
/* slicelosses.h - numbers of lost samples or records by time slice (--time-slice). */
#ifndef PJ_SLICELOSSES_H
#define PJ_SLICELOSSES_H

#include "common/intern.h"

/* Losses by time slice; a struct of zeros has none. */
struct slices_lost {
	struct intern names;
	/* n[id]: number of losses in the time slice whose name has this id in `names`. cap: number of elements. */
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
