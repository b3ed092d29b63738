/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern.h - a table that gives each distinct string a small number, its id.
 *
 * Ids are dense and start at 1, in the order in which strings are added; 0 means "none". The table copies each string
 * once; the copy does not move until intern_free. Every hit compares the bytes, because equal hashes do not prove equal
 * strings.
 */
#ifndef PJ_INTERN_H
#define PJ_INTERN_H

#include "common/arena.h"
#include "common/hash.h"

struct intern {
	uint32_t n; /* number of ids: ids 1 to n exist */
	uint32_t cap;
	struct str *str; /* strings by id; str[0] is unused */
	struct intern_slot {
		uint32_t id, hash; /* id of the string and its hash: next to each other, so that most lookups read one
				      cache line */
	} * slot;                  /* hash table with open addressing; a slot with id 0 is free */
	uint32_t mask;             /* number of slots - 1; 0 if the table has no slots */
	struct arena bytes;
};

/* Returns the id of string; adds string to the table if it is new. */
uint32_t intern(struct intern *table, struct str string);
/* Returns the id of string, or 0 if the table does not have it. */
uint32_t intern_find(const struct intern *table, struct str string);
void intern_free(struct intern *table);

static inline struct str intern_str(const struct intern *table, uint32_t id)
{
	return table->str[id];
}

/* Returns the rank of each string, its position in byte order from 0, in an array by id. Element 0 is unused. The
 * caller frees the array. */
uint32_t *intern_ranks(const struct intern *table);

#endif
