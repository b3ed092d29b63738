/* SPDX-License-Identifier: Apache-2.0 */
#include "common/intern.h"

#include "common/diag.h"

#include <stdlib.h>

static void intern_grow_slots(struct intern *table)
{
	uint32_t nslots = table->mask ? (table->mask + 1) * 2 : 256;
	struct intern_slot *slot;

	if (nslots == 0)
		die("more than 2 billion distinct names");
	slot = mem_alloc(sizeof(*slot), nslots);
	for (uint32_t index = 0; table->mask && index <= table->mask; index++) {
		uint32_t i = table->slot[index].hash & (nslots - 1);

		if (!table->slot[index].id)
			continue;
		while (slot[i].id)
			i = (i + 1) & (nslots - 1);
		slot[i] = table->slot[index];
	}
	free(table->slot);
	table->slot = slot;
	table->mask = nslots - 1;
}

static uint32_t intern_find_slot(const struct intern *table, struct str string, uint32_t hash, uint32_t *slot)
{
	uint32_t i = hash & table->mask;

	for (; table->slot[i].id; i = (i + 1) & table->mask)
		if (table->slot[i].hash == hash && str_eq(table->str[table->slot[i].id], string))
			return table->slot[i].id;
	*slot = i;
	return 0;
}

uint32_t intern_find(const struct intern *table, struct str string)
{
	uint32_t slot;

	return table->mask ? intern_find_slot(table, string, (uint32_t)hash_bytes(string.p, string.n), &slot) : 0;
}

uint32_t intern(struct intern *table, struct str string)
{
	uint32_t hash = (uint32_t)hash_bytes(string.p, string.n), slot, id;

	if (table->n >= table->mask / 2)
		intern_grow_slots(table);
	id = intern_find_slot(table, string, hash, &slot);
	if (id)
		return id;
	if (table->n + 1 >= table->cap) {
		table->cap = table->cap ? table->cap * 2 : 128;
		table->str = mem_grow(table->str, sizeof(*table->str), table->cap);
		if (table->n == 0)
			table->str[0] = (struct str){ "", 0 };
	}
	id = ++table->n;
	table->str[id] = arena_copy(&table->bytes, string);
	table->slot[slot] = (struct intern_slot){ id, hash };
	return id;
}

void intern_free(struct intern *table)
{
	free(table->str);
	free(table->slot);
	arena_free(&table->bytes);
	*table = (struct intern){ 0 };
}

#define FEW 24

struct rankee {
	uint64_t head; /* the 8 bytes of the name that this step compares, as a big-endian number */
	const char *p;
	size_t n;
	uint32_t left; /* bytes of the name from `head` on to its end; 9 stands for more than 8 */
	uint32_t id;
};

static uint64_t head_of(const char *p, size_t n)
{
	uint64_t value = 0;

	if (n >= 8) {
		memcpy(&value, p, 8);
		return __builtin_bswap64(value);
	}
	for (size_t i = 0; i < n; i++)
		value |= (uint64_t)(unsigned char)p[i] << (56 - 8 * i);
	return value;
}

/* Compares names by the 8 bytes in head. A name that ends within these 8 bytes comes before a name that continues with
 * NULs. */
static int head_cmp(const void *left, const void *right)
{
	const struct rankee *rankee = left, *b = right;

	if (rankee->head != b->head)
		return rankee->head < b->head ? -1 : 1;
	return (rankee->left > b->left) - (rankee->left < b->left);
}

/* Sorts a few names whose first `depth` bytes are equal, by insertion: for few names this is cheaper than the steps of
 * sort_names. */
static void sort_few(struct rankee *rankee, size_t n, size_t depth)
{
	for (size_t i = 1; i < n; i++) {
		struct rankee one = rankee[i];
		size_t index = i;

		for (; index > 0; index--) {
			struct str string = { rankee[index - 1].p + depth, rankee[index - 1].n - depth };
			struct str other = { one.p + depth, one.n - depth };

			if (str_cmp(string, other) <= 0)
				break;
			rankee[index] = rankee[index - 1];
		}
		rankee[index] = one;
	}
}

/* Sorts names by their first 8 bytes, then each group of names with equal bytes by the next 8, and so on: names often
 * have long common beginnings (packages, namespaces). */
static void sort_names(struct rankee *rankee, size_t n)
{
	struct run {
		size_t from, n, depth;
	} *todo = NULL, run = { 0, n, 0 };
	size_t ntodo = 0, cap = 0;

	for (;; run = todo[--ntodo]) {
		struct rankee *at = rankee + run.from;

		if (run.n < FEW) {
			sort_few(at, run.n, run.depth);
			if (ntodo == 0)
				break;
			continue;
		}
		for (size_t i = 0; i < run.n; i++) {
			size_t left = at[i].n - run.depth;

			at[i].head = head_of(at[i].p + run.depth, left);
			at[i].left = left < 9 ? (uint32_t)left : 9;
		}
		qsort(at, run.n, sizeof(*at), head_cmp);
		for (size_t i = 0, index; i < run.n; i = index) {
			for (index = i + 1; index < run.n && head_cmp(&at[i], &at[index]) == 0; index++)
				;
			if (index == i + 1 || at[i].left < 9)
				continue;
			if (ntodo == cap) {
				cap = cap ? cap * 2 : 64;
				todo = mem_grow(todo, sizeof(*todo), cap);
			}
			todo[ntodo++] = (struct run){ run.from + i, index - i, run.depth + 8 };
		}
		if (ntodo == 0)
			break;
	}
	free(todo);
}

uint32_t *intern_ranks(const struct intern *table)
{
	struct rankee *rankee = mem_alloc(sizeof(*rankee), table->n);
	uint32_t *rank = mem_alloc(sizeof(*rank), (size_t)table->n + 1);

	for (uint32_t id = 1; id <= table->n; id++)
		rankee[id - 1] = (struct rankee){ .p = table->str[id].p, .n = table->str[id].n, .id = id };
	if (table->n)
		sort_names(rankee, table->n);
	for (uint32_t i = 0; i < table->n; i++)
		rank[rankee[i].id] = i;
	free(rankee);
	return rank;
}
