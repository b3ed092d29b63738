/* SPDX-License-Identifier: Apache-2.0 */
#include "common/intern.h"

#include "common/diag.h"

#include <stdlib.h>

static void intern_grow_slots(struct intern *t)
{
	uint32_t nslots = t->mask ? (t->mask + 1) * 2 : 256;
	struct intern_slot *slot;

	if (nslots == 0)
		die("more than 2 billion distinct names");
	slot = mem_alloc(sizeof(*slot), nslots);
	for (uint32_t k = 0; t->mask && k <= t->mask; k++) {
		uint32_t i = t->slot[k].hash & (nslots - 1);

		if (!t->slot[k].id)
			continue;
		while (slot[i].id)
			i = (i + 1) & (nslots - 1);
		slot[i] = t->slot[k];
	}
	free(t->slot);
	t->slot = slot;
	t->mask = nslots - 1;
}

static uint32_t intern_find_slot(const struct intern *t, struct str string, uint32_t hash, uint32_t *slot)
{
	uint32_t i = hash & t->mask;

	for (; t->slot[i].id; i = (i + 1) & t->mask)
		if (t->slot[i].hash == hash && str_eq(t->str[t->slot[i].id], string))
			return t->slot[i].id;
	*slot = i;
	return 0;
}

uint32_t intern_find(const struct intern *t, struct str string)
{
	uint32_t slot;

	return t->mask ? intern_find_slot(t, string, (uint32_t)hash_bytes(string.p, string.n), &slot) : 0;
}

uint32_t intern(struct intern *t, struct str string)
{
	uint32_t hash = (uint32_t)hash_bytes(string.p, string.n), slot, id;

	if (t->n >= t->mask / 2)
		intern_grow_slots(t);
	id = intern_find_slot(t, string, hash, &slot);
	if (id)
		return id;
	if (t->n + 1 >= t->cap) {
		t->cap = t->cap ? t->cap * 2 : 128;
		t->str = mem_grow(t->str, sizeof(*t->str), t->cap);
		if (t->n == 0)
			t->str[0] = (struct str){ "", 0 };
	}
	id = ++t->n;
	t->str[id] = arena_copy(&t->bytes, string);
	t->slot[slot] = (struct intern_slot){ id, hash };
	return id;
}

void intern_free(struct intern *t)
{
	free(t->str);
	free(t->slot);
	arena_free(&t->bytes);
	*t = (struct intern){ 0 };
}

#define FEW 24

struct rankee {
	uint64_t head; /* the 8 bytes that are compared now, big end first */
	const char *p;
	size_t n;
	uint32_t left; /* bytes from head to the end, 9 for more than 8 */
	uint32_t id;
};

static uint64_t head_of(const char *p, size_t n)
{
	uint64_t v = 0;

	if (n >= 8) {
		memcpy(&v, p, 8);
		return __builtin_bswap64(v);
	}
	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)(unsigned char)p[i] << (56 - 8 * i);
	return v;
}

/* By the 8 bytes in head; a string that ends within them comes before one that goes on with NULs. */
static int head_cmp(const void *va, const void *vb)
{
	const struct rankee *rankee = va, *b = vb;

	if (rankee->head != b->head)
		return rankee->head < b->head ? -1 : 1;
	return (rankee->left > b->left) - (rankee->left < b->left);
}

/* A few names that are equal up to depth: comparing the rest of them is cheaper than sorting in steps. */
static void sort_few(struct rankee *rankee, size_t n, size_t depth)
{
	for (size_t i = 1; i < n; i++) {
		struct rankee one = rankee[i];
		size_t k = i;

		for (; k > 0; k--) {
			struct str string = { rankee[k - 1].p + depth, rankee[k - 1].n - depth };
			struct str b = { one.p + depth, one.n - depth };

			if (str_cmp(string, b) <= 0)
				break;
			rankee[k] = rankee[k - 1];
		}
		rankee[k] = one;
	}
}

/* Names share long beginnings (packages, namespaces): sort by 8 bytes, then every run of equals by its next 8. */
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
		for (size_t i = 0, k; i < run.n; i = k) {
			for (k = i + 1; k < run.n && head_cmp(&at[i], &at[k]) == 0; k++)
				;
			if (k == i + 1 || at[i].left < 9)
				continue;
			if (ntodo == cap) {
				cap = cap ? cap * 2 : 64;
				todo = mem_grow(todo, sizeof(*todo), cap);
			}
			todo[ntodo++] = (struct run){ run.from + i, k - i, run.depth + 8 };
		}
		if (ntodo == 0)
			break;
	}
	free(todo);
}

uint32_t *intern_ranks(const struct intern *t)
{
	struct rankee *rankee = mem_alloc(sizeof(*rankee), t->n);
	uint32_t *rank = mem_alloc(sizeof(*rank), (size_t)t->n + 1);

	for (uint32_t id = 1; id <= t->n; id++)
		rankee[id - 1] = (struct rankee){ .p = t->str[id].p, .n = t->str[id].n, .id = id };
	if (t->n)
		sort_names(rankee, t->n);
	for (uint32_t i = 0; i < t->n; i++)
		rank[rankee[i].id] = i;
	free(rankee);
	return rank;
}
