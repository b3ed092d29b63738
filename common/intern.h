/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern.h - equal bytes get the same small number.
 *
 * Ids are dense and start at 1 in the order of first sight; 0 means "none". The bytes are copied once and stay where
 * they are until intern_free. Every hit compares the bytes: a hash is only a place to look.
 */
#ifndef PJ_INTERN_H
#define PJ_INTERN_H

#include "common/arena.h"
#include "common/hash.h"

struct intern {
	uint32_t n; /* ids 1..n exist */
	uint32_t cap;
	struct str *str; /* by id */
	struct intern_slot {
		uint32_t id, hash; /* together, so that most of what is looked up costs one access */
	} * slot;                  /* open addressing; id 0: free */
	uint32_t mask;             /* slots - 1, or 0 when there are none */
	struct arena bytes;
};

uint32_t intern(struct intern *table, struct str string);            /* id of string, new if need be */
uint32_t intern_find(const struct intern *table, struct str string); /* id of string, or 0 */
void intern_free(struct intern *table);

static inline struct str intern_str(const struct intern *table, uint32_t id)
{
	return table->str[id];
}

/* rank[id] = position of id's bytes among all, from 0; caller frees. Index 0 is unused. */
uint32_t *intern_ranks(const struct intern *table);

#endif
