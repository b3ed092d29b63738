/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/format/encode.h"

#include "common/rounding.h"
#include "svg/format/callees.h"
#include "svg/format/xml.h"

#include <stdlib.h>

/* digits of numbers in the data block: 0x20 to 0x7e without & < > " ' \ and the backquote */
static const char digits[] = " !#$%()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz{|}~";

_Static_assert(sizeof(digits) == 88 + 1, "the alphabet has 88 digits");

/* number base of the data block: the last digit of a number is below MORE; each other digit has MORE added to its
 * value */
#define MORE 44

static void put_digit(struct text *text, uint32_t digit)
{
	text_char(text, digits[digit]);
}

void encode_number(struct text *text, uint64_t value)
{
	while (value >= MORE) {
		put_digit(text, MORE + (uint32_t)(value % MORE));
		value /= MORE;
	}
	put_digit(text, (uint32_t)value);
}

/* ---- names of frames (NAMES) -------------------------------------------------------------------------------- */

/* Returns the length in bytes of the common prefix of two names, at most 87. The prefix ends before the first byte that
 * is not ASCII, as the viewer counts UTF-16 units, which equal bytes only in ASCII text. */
static uint32_t shared_prefix(struct str string, struct str other)
{
	uint32_t n = 0;

	while (n < 87 && n < string.n && n < other.n && string.p[n] == other.p[n] && (unsigned char)string.p[n] < 0x80)
		n++;
	return n;
}

void encode_names(struct text *text, const struct styles *styles)
{
	struct str before = { 0 };

	for (uint32_t i = 0; i < styles->n; i++) {
		uint32_t shared = shared_prefix(before, styles->text[i]);
		if (i)
			text_char(text, '\n');
		put_digit(text, shared);
		encode_number(text, styles->colour[i]);
		xml_text(text, str_from(styles->text[i], shared));
		before = styles->text[i];
	}
}

/* ---- call tree (TREE) --------------------------------------------------------------------------------------- */

/* Set of the pairs (caller's name, callee's name) that have occurred in the tree. A callee that is not in it is new, so
 * a long list of callees need not be searched for it. */
struct pairs {
	uint64_t *slot; /* hash table of (caller << 32 | callee) + 1; 0: empty slot */
	uint64_t mask;
};

struct tree {
	struct callees *of; /* callees of each name, by name id; at the end the callees of the root */
	struct pairs first_seen;
	struct arena memory;
};

static void pairs_make(struct pairs *pairs, uint32_t n)
{
	uint64_t slots = 16;

	while (slots < (uint64_t)n * 2)
		slots *= 2;
	pairs->slot = mem_alloc(sizeof(*pairs->slot), slots);
	pairs->mask = slots - 1;
}

/* Adds the pair (caller, callee) to the set. Returns true if the pair was already in the set, false if it is new. */
static bool pairs_intersect(struct pairs *pairs, uint32_t caller, uint32_t callee)
{
	uint64_t key = ((uint64_t)caller << 32 | callee) + 1;
	uint64_t at = (key * 0x9e3779b97f4a7c15) >> 20;

	for (;; at++) {
		uint64_t *slot = &pairs->slot[at & pairs->mask];
		if (*slot == key)
			return true;
		if (*slot == 0) {
			*slot = key;
			return false;
		}
	}
}

static void encode_put_frame(struct text *text, uint32_t pop, uint32_t index, uint32_t id)
{
	put_digit(text, (pop < 7 ? pop : 7) + 8 * (index < 10 ? index : 10));
	if (pop >= 7)
		encode_number(text, pop - 7);
	if (index >= 10)
		encode_number(text, index - 10);
	if (index == 0)
		encode_number(text, id);
}

void encode_tree(struct text *text, const struct layout *layout, const struct styles *styles)
{
	struct tree tree = { .of = mem_alloc(sizeof(*tree.of), (size_t)styles->n + 1) };
	uint32_t depth = 0;

	pairs_make(&tree.first_seen, layout->n);
	for (uint32_t i = 0; i < layout->n; i++) {
		uint32_t caller = layout->parent[i] == LAYOUT_ROOT ? styles->n : styles->of[layout->parent[i]];
		uint32_t id = styles->of[i], index = 0;
		struct callees *list = &tree.of[caller];
		if (pairs_intersect(&tree.first_seen, caller, id)) {
			index = callees_find(list, id);
			callees_to_front(list, index);
		} else {
			callees_push(list, id, &tree.memory);
		}
		encode_put_frame(text, depth + 1 - layout->level[i], index, id);
		depth = layout->level[i];
	}
	arena_free(&tree.memory);
	free(tree.first_seen.slot);
	free(tree.of);
}

/* ---- self weights (SELF) ------------------------------------------------------------------------------------ */

/* Appends value[0..n), a column of numbers that are mostly 0. For each number that is not 0, writes the count of zeros
 * before it, then the number minus 1. */
static void put_sparse(struct text *text, const uint64_t *value, uint32_t n)
{
	uint64_t zeros = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (value[i] == 0) {
			zeros++;
			continue;
		}
		encode_number(text, zeros);
		encode_number(text, value[i] - 1);
		zeros = 0;
	}
}

void encode_self(struct text *text, const struct layout *layout, const uint64_t *self)
{
	put_sparse(text, self, layout->n);
}

void encode_pauses(struct text *text, const struct layout *layout)
{
	put_sparse(text, layout->pause, layout->n);
}

/* ---- test results (VERDICT) --------------------------------------------------------------------------------- */

enum { CODE_LESS = 8, CODE_ONE_SIDED = 16, CODE_MOVED = 32 };

static uint32_t verdict_code(const struct layout *layout, uint32_t i, const struct sig_change *change)
{
	if (change->why != SIG_CHANGED && change->why != SIG_MOVED)
		return 0;
	bool one_sided = layout->before[i] == 0 || layout->width[i] == 0;
	return change->level + (change->less ? CODE_LESS : 0U) + (one_sided ? CODE_ONE_SIDED : 0U) +
	       (change->why == SIG_MOVED ? CODE_MOVED : 0U);
}

void encode_verdict(struct text *text, const struct layout *layout, const struct sig_change *assessed)
{
	uint64_t silent = 0;

	for (uint32_t i = 0; i < layout->n; i++) {
		uint32_t code = verdict_code(layout, i, &assessed[i]);
		if (code == 0) {
			silent++;
			continue;
		}
		encode_number(text, silent);
		encode_number(text, code);
		if (assessed[i].level)
			encode_number(text, (uint64_t)rounded(assessed[i].z * 10));
		silent = 0;
	}
}
