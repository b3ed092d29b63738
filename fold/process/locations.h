/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locations.h - table that gives each distinct location (location.h) a number, its id.
 *
 * Pass 1 folds stacks of location ids; pass 2 looks up the name of each location once. A frame id in a call tree is a
 * location id with LOCATION_BIT or, for the first frames of a stack, the id of a name without it.
 */
#ifndef PJ_LOCATIONS_H
#define PJ_LOCATIONS_H

#include "fold/process/location.h"

#define LOCATION_BIT 0x80000000u /* set in a frame id whose other bits are a location id */

/* Table of locations; a struct of zeros is an empty table. */
struct locations {
	uint32_t n, cap;           /* n: number of locations, with ids 1 to n; cap: capacity */
	struct location *location; /* locations by id; element 0 is unused */
	uint32_t *slot, mask;      /* hash table of mask + 1 location ids; 0 is a free slot */
};

/* Returns the id of a location; adds the location if it is new. Ends the process if the table would exceed 2^29
 * locations. */
uint32_t locations_id(struct locations *locations, struct location location);

/* Frees the memory of *locations and makes the table empty. */
void locations_free(struct locations *locations);

#endif
