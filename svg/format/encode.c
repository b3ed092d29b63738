/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/format/encode.h"

#include "svg/format/callees.h"
#include "svg/format/xml.h"

#include <math.h>
#include <stdlib.h>

/* 0x20..0x7e without & < > " ' \ and the backquote. */
static const char digits[] = " !#$%()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz{|}~";

_Static_assert(sizeof(digits) == 88 + 1, "the alphabet has 88 digits");

#define MORE 44 /* digits from here on: this much less, and another one follows */

static void put_digit(struct text *t, uint32_t digit)
{
	text_char(t, digits[digit]);
}

static void put_varint(struct text *t, uint64_t value)
{
	while (value >= MORE) {
		put_digit(t, MORE + (uint32_t)(value % MORE));
		value /= MORE;
	}
	put_digit(t, (uint32_t)value);
}

/* ---- names -------------------------------------------------------------------------------------------------- */

/* Only ASCII counts, so that bytes here are UTF-16 units there. */
static uint32_t shared_prefix(struct str a, struct str b)
{
	uint32_t n = 0;

	while (n < 87 && n < a.n && n < b.n && a.p[n] == b.p[n] && (unsigned char)a.p[n] < 0x80)
		n++;
	return n;
}

void encode_names(struct text *t, const struct styles *n)
{
	struct str before = { 0 };

	for (uint32_t i = 0; i < n->n; i++) {
		uint32_t shared = shared_prefix(before, n->text[i]);
		if (i)
			text_char(t, '\n');
		put_digit(t, shared);
		put_varint(t, n->colour[i]);
		xml_text(t, str_from(n->text[i], shared));
		before = n->text[i];
	}
}

/* ---- tree --------------------------------------------------------------------------------------------------- */

/* The pairs (caller's name, callee's name) met so far: a miss in a long list must not cost a search. */
struct pairs {
	uint64_t *slot; /* 0: empty */
	uint64_t mask;
};

struct tree {
	struct callees *of; /* by name; the root's at faces.n */
	struct pairs first_seen;
	struct arena memory;
};

static void pairs_make(struct pairs *p, uint32_t n)
{
	uint64_t slots = 16;

	while (slots < (uint64_t)n * 2)
		slots *= 2;
	p->slot = mem_alloc(sizeof(*p->slot), slots);
	p->mask = slots - 1;
}

/* Was the pair there? It is, afterwards. */
static bool pairs_intersect(struct pairs *p, uint32_t caller, uint32_t callee)
{
	uint64_t key = ((uint64_t)caller << 32 | callee) + 1;
	uint64_t at = (key * 0x9e3779b97f4a7c15) >> 20;

	for (;; at++) {
		uint64_t *slot = &p->slot[at & p->mask];
		if (*slot == key)
			return true;
		if (*slot == 0) {
			*slot = key;
			return false;
		}
	}
}

static void encode_put_frame(struct text *t, uint32_t pop, uint32_t k, uint32_t id)
{
	put_digit(t, (pop < 7 ? pop : 7) + 8 * (k < 10 ? k : 10));
	if (pop >= 7)
		put_varint(t, pop - 7);
	if (k >= 10)
		put_varint(t, k - 10);
	if (k == 0)
		put_varint(t, id);
}

void encode_tree(struct text *t, const struct layout *l, const struct styles *n)
{
	struct tree tree = { .of = mem_alloc(sizeof(*tree.of), (size_t)n->n + 1) };
	uint32_t depth = 0;

	pairs_make(&tree.first_seen, l->n);
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t caller = l->parent[i] == LAYOUT_ROOT ? n->n : n->of[l->parent[i]];
		uint32_t id = n->of[i], k = 0;
		struct callees *list = &tree.of[caller];
		if (pairs_intersect(&tree.first_seen, caller, id)) {
			k = callees_find(list, id);
			callees_to_front(list, k);
		} else {
			callees_push(list, id, &tree.memory);
		}
		encode_put_frame(t, depth + 1 - l->level[i], k, id);
		depth = l->level[i];
	}
	arena_free(&tree.memory);
	free(tree.first_seen.slot);
	free(tree.of);
}

/* ---- self --------------------------------------------------------------------------------------------------- */

/* A column is mostly zeros. */
static void put_sparse(struct text *t, const uint64_t *value, uint32_t n)
{
	uint64_t zeros = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (value[i] == 0) {
			zeros++;
			continue;
		}
		put_varint(t, zeros);
		put_varint(t, value[i] - 1);
		zeros = 0;
	}
}

void encode_self(struct text *t, const struct layout *l, const uint64_t *self)
{
	put_sparse(t, self, l->n);
}

void encode_pauses(struct text *t, const struct layout *l)
{
	put_sparse(t, l->pause, l->n);
}

/* ---- verdicts ----------------------------------------------------------------------------------------------- */

enum { CODE_LESS = 8, CODE_ONE_SIDED = 16, CODE_MOVED = 32 };

static uint32_t verdict_code(const struct layout *l, uint32_t i, const struct sig_change *j)
{
	if (j->why != SIG_CHANGED && j->why != SIG_MOVED)
		return 0;
	bool one_sided = l->before[i] == 0 || l->width[i] == 0;
	return j->level + (j->less ? CODE_LESS : 0U) + (one_sided ? CODE_ONE_SIDED : 0U) +
	       (j->why == SIG_MOVED ? CODE_MOVED : 0U);
}

void encode_verdict(struct text *t, const struct layout *l, const struct sig_change *assessed)
{
	uint64_t silent = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t code = verdict_code(l, i, &assessed[i]);
		if (code == 0) {
			silent++;
			continue;
		}
		put_varint(t, silent);
		put_varint(t, code);
		if (assessed[i].level)
			put_varint(t, (uint64_t)llroundf(assessed[i].z * 10));
		silent = 0;
	}
}
