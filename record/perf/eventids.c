/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/eventids.h"

#include "common/arena.h"
#include "common/hash.h"

#include <stdlib.h>

static size_t eventids_place(const struct eventids *ids, uint64_t id)
{
	size_t i = (size_t)hash_mix(id, 0x9E3779B97F4A7C15u) & ids->mask;

	while (ids->slot[i].event && ids->slot[i].id != id)
		i = (i + 1) & ids->mask;
	return i;
}

void eventids_add(struct eventids *ids, uint64_t id, uint64_t event)
{
	if (2 * ids->n >= ids->mask) {
		struct eventids wide = *ids;

		wide.mask = ids->mask ? 2 * ids->mask + 1 : 63;
		wide.slot = mem_alloc(sizeof(*wide.slot), wide.mask + 1);
		for (size_t i = 0; ids->slot && i <= ids->mask; i++)
			if (ids->slot[i].event)
				wide.slot[eventids_place(&wide, ids->slot[i].id)] = ids->slot[i];
		free(ids->slot);
		*ids = wide;
	}
	size_t i = eventids_place(ids, id);
	ids->n += !ids->slot[i].event;
	ids->slot[i] = (struct eventid){ id, event };
}

uint64_t eventids_find(const struct eventids *ids, uint64_t id)
{
	return ids->slot ? ids->slot[eventids_place(ids, id)].event : 0;
}

void eventids_free(struct eventids *ids)
{
	free(ids->slot);
	*ids = (struct eventids){ 0 };
}
