/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linktable.h - a chained hash table whose entries belong to the caller and begin with a struct link.
 *
 * It grows with the number of entries and never shrinks.
 */
#ifndef PJ_LINKTABLE_H
#define PJ_LINKTABLE_H

#include "common/base.h"

struct link {
	struct link *next;
	uint64_t hash;
};

struct linktable {
	struct link **slot;
	size_t n, mask;
};

/* The first entry of the chain that an entry with this hash is in. */
static inline struct link *linktable_first(const struct linktable *table, uint64_t hash)
{
	return table->slot ? table->slot[hash & table->mask] : NULL;
}

void linktable_add(struct linktable *table, struct link *entry, uint64_t hash);
void linktable_remove(struct linktable *table, struct link *entry);

/* All entries; the current one may be removed. */
#define LINKTABLE_EACH(T, e, table)                                            \
	for (size_t slot_ = 0; (table).slot && slot_ <= (table).mask; slot_++) \
		for (T *e = (T *)(table).slot[slot_], *after_; e && (after_ = (T *)e->link.next, true); e = after_)

#endif
