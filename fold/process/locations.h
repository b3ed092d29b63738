/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locations.h - places in code, (DSO, address), as small numbers.
 *
 * Stacks of a recording are first folded by these numbers: which names they have is asked later, once for each. As
 * frames of a call tree they stand beside names (first frames) and are told apart by the highest bit.
 */
#ifndef PJ_LOCATIONS_H
#define PJ_LOCATIONS_H

#include "fold/process/addrspace.h"

#define LOCATION_BIT 0x80000000u /* of a frame id: the rest of it is a site */

struct location_key {
	uint64_t address;
	uint32_t dso;
};

struct locations {
	uint32_t n, cap; /* ids are 1..n */
	struct location_key *location;
	uint32_t *slot, mask;
};

/* The id of a place, new if need be. */
uint32_t locations_id(struct locations *locations, uint32_t dso, uint64_t address);

void locations_free(struct locations *locations);

#endif
