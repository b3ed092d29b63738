/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locations.h - numbers for locations (location.h).
 *
 * Pass 1 folds stacks by these numbers; pass 2 looks up the names of each location once. In call trees frame ids of
 * locations stand beside ids of names (the first frames of stacks); the highest bit distinguishes them.
 */
#ifndef PJ_LOCATIONS_H
#define PJ_LOCATIONS_H

#include "fold/process/location.h"

#define LOCATION_BIT 0x80000000u /* set in a frame id whose other bits are a location id */

/* Zero is empty. */
struct locations {
	uint32_t n, cap; /* ids are 1..n */
	struct location *location;
	uint32_t *slot, mask;
};

/* Returns the id of a location; a new one if it has none yet. Ends the process at 2^30 locations. */
uint32_t locations_id(struct locations *locations, struct location location);

/* Frees what *locations owns; it becomes empty. */
void locations_free(struct locations *locations);

#endif
