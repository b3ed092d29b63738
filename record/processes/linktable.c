/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/linktable.h"

#include "common/arena.h"

#include <stdlib.h>

static void linktable_widen(struct linktable *table)
{
	size_t wide = table->slot ? 2 * (table->mask + 1) : 64;
	struct link **slot = mem_alloc(sizeof(struct link *), wide), *next;

	for (size_t i = 0; table->slot && i <= table->mask; i++)
		for (struct link *link = table->slot[i]; link; link = next) {
			next = link->next;
			link->next = slot[link->hash & (wide - 1)];
			slot[link->hash & (wide - 1)] = link;
		}
	free(table->slot);
	table->slot = slot;
	table->mask = wide - 1;
}

void linktable_add(struct linktable *table, struct link *entry, uint64_t hash)
{
	if (!table->slot || table->n > table->mask)
		linktable_widen(table);
	entry->hash = hash;
	entry->next = table->slot[hash & table->mask];
	table->slot[hash & table->mask] = entry;
	table->n++;
}

void linktable_remove(struct linktable *table, struct link *entry)
{
	struct link **link = &table->slot[entry->hash & table->mask];

	while (*link != entry)
		link = &(*link)->next;
	*link = entry->next;
	table->n--;
}
