/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/samples/linecache.h"

#include "common/diag.h"

#include <stdlib.h>

#define FRONT_SETS (1u << 16)

/* Two places per hash, the newer first: bounded, whatever the input. */
struct linecache_set {
	uint32_t tag[2];
	uint32_t entry[2];
};

/* Is this nothing, or "+0x1a"? */
static bool is_offset(const char *p, size_t n)
{
	if (n == 0)
		return true;
	if (n < 4 || p[0] != '+' || p[1] != '0' || p[2] != 'x')
		return false;
	for (size_t i = 3; i < n; i++)
		if (!byte_is_hex(p[i]))
			return false;
	return true;
}

/* Length of "+0x1a" at the end of s, or 0. */
static size_t offset_length(struct str s)
{
	size_t i = s.n;

	while (i && byte_is_hex(s.p[i - 1]))
		i--;
	if (i == s.n || i < 3 || s.p[i - 1] != 'x' || s.p[i - 2] != '0' || s.p[i - 3] != '+')
		return 0;
	return s.n - (i - 3);
}

/* Where the last parenthesis of s opens, as balanced from the right; -1 when there is none that stands behind a
 * blank. A dso may itself hold blanks and parentheses: "(/x (deleted))". */
static ptrdiff_t find_dso(struct str s)
{
	size_t depth = 0, i = s.n;

	if (s.n < 2 || s.p[s.n - 1] != ')')
		return -1;
	while (i > 0) {
		char c = s.p[--i];

		depth += c == ')';
		if (c == '(' && --depth == 0) {
			if (i == 0 || s.p[i - 1] == ' ')
				return (ptrdiff_t)i;
			break;
		}
	}
	for (i = s.n - 1; i-- > 1;) /* parentheses in the path that do not match; a list of parameters is no path */
		if (s.p[i] == '(' && s.p[i - 1] == ' ' && (s.p[i + 1] == '/' || s.p[i + 1] == '['))
			return (ptrdiff_t)i;
	return -1;
}

/* symbol and rest are pieces of tail; rest begins at the blank before "(dso)". */
static void linecache_split_line(struct str tail, struct str *symbol, struct str *rest)
{
	ptrdiff_t dso;

	tail = str_trim_right(tail);
	dso = find_dso(tail);
	*symbol = dso < 0 ? tail : str_head(tail, dso > 0 ? (size_t)dso - 1 : 0);
	*rest = str_from(tail, symbol->n);
	symbol->n -= offset_length(*symbol);
}

struct names_frame linecache_split(struct str tail)
{
	struct names_frame f = { 0 };
	struct str rest;

	linecache_split_line(tail, &f.symbol, &rest);
	f.symbol = str_trim(f.symbol);
	if (rest.n) {
		size_t open = rest.p[0] == '(' ? 1 : 2;

		f.dso = str_head(str_from(rest, open), rest.n - open - 1);
	}
	f.inlined = str_eq(f.dso, STR("inlined"));
	if (f.inlined)
		f.dso = (struct str){ 0 };
	return f;
}

/* -F+dsoff: "(dso+0x12)" would be another dso at each address. */
static struct str without_dso_offset(struct linecache *l, struct str rest)
{
	struct str inner;
	size_t offset;

	if (rest.n < 3)
		return rest;
	inner = str_head(rest, rest.n - 1);
	offset = offset_length(inner);
	if (offset == 0)
		return rest;
	if (rest.n > l->scratch_cap) {
		l->scratch_cap = rest.n * 2;
		l->scratch = mem_grow(l->scratch, 1, l->scratch_cap);
	}
	memcpy(l->scratch, rest.p, inner.n - offset);
	l->scratch[inner.n - offset] = ')';
	return (struct str){ l->scratch, inner.n - offset + 1 };
}

static struct line_entry *entry_at(const struct linecache *l, uint32_t at)
{
	return (struct line_entry *)(void *)(l->pool + (size_t)at * 8);
}

static size_t entry_size(const struct line_entry *e)
{
	return (sizeof(*e) + e->symbol_n + e->rest_n + 7) & ~(size_t)7;
}

static void linecache_grow_slots(struct linecache *l)
{
	uint32_t nslots = l->mask ? (l->mask + 1) * 2 : 4096;

	free(l->slot);
	l->slot = mem_alloc(sizeof(*l->slot), nslots);
	l->mask = nslots - 1;
	for (size_t at = 8; at < l->pool_n; at += entry_size(entry_at(l, (uint32_t)(at / 8)))) {
		uint32_t i = entry_at(l, (uint32_t)(at / 8))->hash & l->mask;

		while (l->slot[i])
			i = (i + 1) & l->mask;
		l->slot[i] = (uint32_t)(at / 8);
	}
}

/* Names come outermost first; callers of the innermost are kept inside out, as frames of a sample are. */
static void name_frames(struct linecache *l, struct line_entry *e, struct names_frame f)
{
	struct str names = names_make(l->names, f);
	uint32_t n = 1;

	for (size_t i = 0; i < names.n; i++)
		n += names.p[i] == '\n';
	if (n > 1) {
		if (l->nmore + n + 1 > l->more_cap) {
			l->more_cap = (l->nmore + n + 1) * 2;
			l->more = mem_grow(l->more, sizeof(*l->more), l->more_cap);
		}
		if (l->nmore == 0)
			l->nmore = 1; /* index 0 means none */
		e->unwinder = l->nmore;
		l->nmore += n;
		l->more[l->nmore - 1] = 0;
		for (uint32_t i = n - 1; i-- > 0;)
			l->more[e->unwinder + i] = stacks_frame(l->stacks, str_cut(&names, '\n'));
	}
	e->frame = stacks_frame(l->stacks, names);
	e->unresolved = names_unresolved(f);
}

static uint32_t linecache_add_entry(struct linecache *l, struct str symbol, struct str rest, uint32_t hash)
{
	size_t at = l->pool_n, size = (sizeof(struct line_entry) + symbol.n + rest.n + 7) & ~(size_t)7;
	struct line_entry *e;

	if (at + size > l->pool_cap) {
		l->pool_cap = l->pool_cap + l->pool_cap / 2 + size;
		l->pool = mem_grow(l->pool, 1, l->pool_cap);
	}
	if (at / 8 > UINT32_MAX || symbol.n + rest.n > UINT32_MAX)
		die("more than 32 GB of distinct frame lines");
	l->pool_n += size;
	l->n++;
	e = entry_at(l, (uint32_t)(at / 8));
	*e = (struct line_entry){ .hash = hash, .symbol_n = (uint32_t)symbol.n, .rest_n = (uint32_t)rest.n };
	if (symbol.n)
		memcpy(e->key, symbol.p, symbol.n);
	if (rest.n)
		memcpy(e->key + symbol.n, rest.p, rest.n);
	name_frames(l, e, linecache_split((struct str){ e->key, symbol.n + rest.n }));
	return (uint32_t)(at / 8);
}

static bool same_8(const char *a, const char *b)
{
	uint64_t x, y;

	memcpy(&x, a, 8);
	memcpy(&y, b, 8);
	return x == y;
}

static bool linecache_same_bytes(const char *a, const char *b, size_t n)
{
	if (likely(n >= 8)) {
		for (; n > 8; n -= 8, a += 8, b += 8) {
			if (!same_8(a, b))
				return false;
			if (n < 16)
				return same_8(a + n - 8, b + n - 8); /* overlaps what was compared */
		}
		return same_8(a, b);
	}
	while (n--)
		if (*a++ != *b++)
			return false;
	return true;
}

static bool entry_is(const struct line_entry *e, struct str tail)
{
	size_t n = (size_t)e->symbol_n + e->rest_n;

	return tail.n >= n && linecache_same_bytes(tail.p, e->key, e->symbol_n) &&
	       linecache_same_bytes(tail.p + tail.n - e->rest_n, e->key + e->symbol_n, e->rest_n) &&
	       is_offset(tail.p + e->symbol_n, tail.n - n);
}

/* By (symbol, dso): finds or makes the entry. */
static uint32_t linecache_find_entry(struct linecache *l, struct str tail)
{
	struct str symbol, rest;
	uint32_t hash, i;

	linecache_split_line(tail, &symbol, &rest);
	rest = without_dso_offset(l, rest);
	hash = (uint32_t)(hash_bytes(symbol.p, symbol.n) * 31 + hash_bytes(rest.p, rest.n));
	if (l->n >= l->mask / 2)
		linecache_grow_slots(l);
	for (i = hash & l->mask; l->slot[i]; i = (i + 1) & l->mask) {
		const struct line_entry *e = entry_at(l, l->slot[i]);

		if (e->hash == hash && e->symbol_n == symbol.n && e->rest_n == rest.n &&
		    memcmp(e->key, symbol.p, symbol.n) == 0 && memcmp(e->key + symbol.n, rest.p, rest.n) == 0)
			return l->slot[i];
	}
	l->slot[i] = linecache_add_entry(l, symbol, rest, hash);
	return l->slot[i];
}

void linecache_init(struct linecache *l, struct names *names, struct stacks *stacks)
{
	*l = (struct linecache){ .names = names, .stacks = stacks };
	l->front = mem_alloc(sizeof(*l->front), FRONT_SETS);
	l->pool_cap = 1 << 16;
	l->pool = mem_alloc(1, l->pool_cap);
	l->pool_n = 8; /* offset 0 means none */
}

void linecache_hash(const struct linecache *l, struct line_ref *ref)
{
	ref->hash = hash_bytes(ref->p, ref->n);
	__builtin_prefetch(&l->front[ref->hash & (FRONT_SETS - 1)]);
}

void linecache_guess(const struct linecache *l, struct line_ref *ref)
{
	const struct linecache_set *set = &l->front[ref->hash & (FRONT_SETS - 1)];
	uint32_t tag = (uint32_t)(ref->hash >> 32);

	ref->guess = set->tag[0] == tag ? set->entry[0] : set->tag[1] == tag ? set->entry[1] : 0;
	__builtin_prefetch(entry_at(l, ref->guess));
	__builtin_prefetch(entry_at(l, ref->guess)->key + 40);
}

const struct line_entry *linecache_get(struct linecache *l, const struct line_ref *ref)
{
	struct str tail = { ref->p, ref->n };
	struct linecache_set *set;
	uint32_t at;

	if (likely(ref->guess && entry_is(entry_at(l, ref->guess), tail)))
		return entry_at(l, ref->guess);
	at = linecache_find_entry(l, tail);
	set = &l->front[ref->hash & (FRONT_SETS - 1)];
	set->tag[1] = set->tag[0];
	set->entry[1] = set->entry[0];
	set->tag[0] = (uint32_t)(ref->hash >> 32);
	set->entry[0] = at;
	return entry_at(l, at);
}

void linecache_free(struct linecache *l)
{
	free(l->pool);
	free(l->slot);
	free(l->front);
	free(l->more);
	free(l->scratch);
	*l = (struct linecache){ 0 };
}
