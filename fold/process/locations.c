/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/locations.h"

#include "common/arena.h"
#include "common/diag.h"
#include "common/hash.h"

#include <stdlib.h>

static uint32_t hash_location(const struct location *location)
{
	return (uint32_t)hash_pair(location->address, (uint64_t)location->kind << 32 | location->dso);
}

static void locations_grow(struct locations *locations)
{
	uint32_t nslots = locations->mask ? (locations->mask + 1) * 2 : 4096;

	if (nslots >= LOCATION_BIT)
		die("more than 536 million distinct addresses");
	free(locations->slot);
	locations->slot = mem_alloc(sizeof(*locations->slot), nslots);
	locations->mask = nslots - 1;
	locations->cap = nslots / 2;
	locations->location = mem_grow(locations->location, sizeof(*locations->location), (size_t)locations->cap + 1);
	for (uint32_t id = 1; id <= locations->n; id++) {
		uint32_t i = hash_location(&locations->location[id]) & locations->mask;

		while (locations->slot[i])
			i = (i + 1) & locations->mask;
		locations->slot[i] = id;
	}
}

uint32_t locations_id(struct locations *locations, struct location location)
{
	uint32_t i, id;

	if (unlikely(locations->n == locations->cap))
		locations_grow(locations);
	for (i = hash_location(&location) & locations->mask; (id = locations->slot[i]) != 0;
	     i = (i + 1) & locations->mask)
		if (location_equal(&locations->location[id], &location))
			return id;
	id = ++locations->n;
	locations->location[id] = location;
	locations->slot[i] = id;
	return id;
}

void locations_free(struct locations *locations)
{
	free(locations->location);
	free(locations->slot);
	*locations = (struct locations){ 0 };
}
