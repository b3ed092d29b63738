/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/locations.h"

#include "common/diag.h"

#include <stdlib.h>

static uint32_t hash_location(uint32_t dso, uint64_t address)
{
	return (uint32_t)hash_pair(address, dso);
}

static void locations_grow(struct locations *s)
{
	uint32_t nslots = s->mask ? (s->mask + 1) * 2 : 4096;

	if (nslots >= LOCATION_BIT)
		die("more than a billion distinct addresses");
	free(s->slot);
	s->slot = mem_alloc(sizeof(*s->slot), nslots);
	s->mask = nslots - 1;
	s->cap = nslots / 2;
	s->location = mem_grow(s->location, sizeof(*s->location), (size_t)s->cap + 1);
	for (uint32_t id = 1; id <= s->n; id++) {
		uint32_t i = hash_location(s->location[id].dso, s->location[id].address) & s->mask;

		while (s->slot[i])
			i = (i + 1) & s->mask;
		s->slot[i] = id;
	}
}

uint32_t locations_id(struct locations *s, uint32_t dso, uint64_t address)
{
	uint32_t i, id;

	if (unlikely(s->n == s->cap))
		locations_grow(s);
	for (i = hash_location(dso, address) & s->mask; (id = s->slot[i]) != 0; i = (i + 1) & s->mask)
		if (s->location[id].address == address && s->location[id].dso == dso)
			return id;
	id = ++s->n;
	s->location[id] = (struct location_key){ address, dso };
	s->slot[i] = id;
	return id;
}

void locations_free(struct locations *s)
{
	free(s->location);
	free(s->slot);
	*s = (struct locations){ 0 };
}
