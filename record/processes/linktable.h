/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linktable.h - chained hash table, whose entries belong to the caller and begin with a struct link.
 *
 * The table allocates only its slots; the caller allocates and frees the entries. The table grows with the number of
 * entries and never shrinks. The zero value is empty; the owner frees `slot` at the end. Entries with different keys
 * may have equal hashes, so a lookup compares keys:
 *
 *     for (struct link *link = linktable_first(&table, hash); link; link = link->next)
 *             if (link->hash == hash && has_key(link, key))
 *                     return link;
 */
#ifndef PJ_LINKTABLE_H
#define PJ_LINKTABLE_H

#include "common/base.h"

/* Head of an entry: next entry of its chain (NULL: last), and hash of its key. */
struct link {
	struct link *next;
	uint64_t hash;
};

struct linktable {
	/* slots: the first entry of each chain. n: number of entries. mask: number of slots - 1. */
	struct link **slot;
	size_t n, mask;
};

/* Returns the first entry of the chain for this hash; NULL if the chain is empty. The chain may contain entries with
 * other hashes. */
static inline struct link *linktable_first(const struct linktable *table, uint64_t hash)
{
	return table->slot ? table->slot[hash & table->mask] : NULL;
}

/* Adds an entry to the table, at the start of its chain. The entry must stay at its address until it is removed. */
void linktable_add(struct linktable *table, struct link *entry, uint64_t hash);

/* Removes an entry. The entry must be in the table. */
void linktable_remove(struct linktable *table, struct link *entry);

/* Loops over all entries of a table as `T *e`, where T begins with `struct link link`. The body may remove and free e.
 * It must not add entries, or remove other ones. */
#define LINKTABLE_EACH(T, e, table)                                            \
	for (size_t slot_ = 0; (table).slot && slot_ <= (table).mask; slot_++) \
		for (T *e = (T *)(table).slot[slot_], *after_; e && (after_ = (T *)e->link.next, true); e = after_)

#endif
