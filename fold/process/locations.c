/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/locations.h"

#include "common/diag.h"

#include <stdlib.h>

static uint32_t hash_site(uint32_t dso, uint64_t address)
{
	return (uint32_t)hash_pair(address, dso);
}

static void grow(struct sites *s)
{
	uint32_t nslots = s->mask ? (s->mask + 1) * 2 : 4096;

	if (nslots >= SITE_BIT)
		die("more than a billion distinct addresses");
	free(s->slot);
	s->slot = mem_alloc(sizeof(*s->slot), nslots);
	s->mask = nslots - 1;
	s->cap = nslots / 2;
	s->site = mem_grow(s->site, sizeof(*s->site), (size_t)s->cap + 1);
	for (uint32_t id = 1; id <= s->n; id++) {
		uint32_t i = hash_site(s->site[id].dso, s->site[id].address) & s->mask;

		while (s->slot[i])
			i = (i + 1) & s->mask;
		s->slot[i] = id;
	}
}

uint32_t sites_id(struct sites *s, uint32_t dso, uint64_t address)
{
	uint32_t i, id;

	if (unlikely(s->n == s->cap))
		grow(s);
	for (i = hash_site(dso, address) & s->mask; (id = s->slot[i]) != 0; i = (i + 1) & s->mask)
		if (s->site[id].address == address && s->site[id].dso == dso)
			return id;
	id = ++s->n;
	s->site[id] = (struct site){ address, dso };
	s->slot[i] = id;
	return id;
}

void sites_free(struct sites *s)
{
	free(s->site);
	free(s->slot);
	*s = (struct sites){ 0 };
}
