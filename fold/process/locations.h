/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locations.h - numbers for locations, pairs of DSO and address.
 *
 * Pass 1 folds stacks by these numbers; pass 2 looks up the names of each location once. In call trees frame ids of
 * locations stand beside ids of names (the first frames of stacks); the highest bit distinguishes them.
 */
#ifndef PJ_LOCATIONS_H
#define PJ_LOCATIONS_H

#include "fold/process/addrspace.h"

#define LOCATION_BIT 0x80000000u /* set in a frame id whose other bits are a location id */

struct location_key {
	/* As the kind of the DSO defines it (enum dso_kind). */
	uint64_t address;
	/* Index in addrspace.dso. */
	uint32_t dso;
};

/* Zero is empty. */
struct locations {
	uint32_t n, cap; /* ids are 1..n */
	struct location_key *location;
	uint32_t *slot, mask;
};

/* Returns the id of a location; a new one if it has none yet. Ends the process at 2^30 locations. */
uint32_t locations_id(struct locations *locations, uint32_t dso, uint64_t address);

/* Frees what *locations owns; it becomes empty. */
void locations_free(struct locations *locations);

#endif
