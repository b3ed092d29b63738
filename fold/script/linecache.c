/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/script/linecache.h"

#include "common/diag.h"

#include <stdlib.h>

#define FRONT_SETS (1u << 16)

/* A set of the first-level cache, which is 2-way set-associative with FRONT_SETS sets. A set has two frame lines, the
 * newer line first. tag: upper 32 bits of the hash of the line. entry: index of its line_entry (offset in the pool /
 * 8); 0: none. */
struct linecache_set {
	uint32_t tag[2];
	uint32_t entry[2];
};

/* Returns true if p[0..n) is empty or an offset like "+0x1a", otherwise false. */
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

/* Returns the length in bytes of an offset like "+0x1a" at the end of string; 0 if there is none. */
static size_t offset_length(struct str string)
{
	size_t i = string.n;

	while (i && byte_is_hex(string.p[i - 1]))
		i--;
	if (i == string.n || i < 3 || string.p[i - 1] != 'x' || string.p[i - 2] != '0' || string.p[i - 3] != '+')
		return 0;
	return string.n - (i - 3);
}

/* Returns the index of the '(' that starts the DSO at the end of a frame line: the '(' that balances the last ')', if a
 * blank precedes it. Returns -1 if the line has no DSO. A DSO may itself contain blanks and parentheses: "(/x
 * (deleted))". */
static ptrdiff_t find_dso(struct str string)
{
	size_t depth = 0, i = string.n;

	if (string.n < 2 || string.p[string.n - 1] != ')')
		return -1;
	/* fast case: most DSOs contain no parenthesis */
	const char *open = memrchr(string.p, '(', string.n - 1);
	if (likely(open && !memchr(open, ')', (size_t)(string.p + string.n - 1 - open)) &&
		   (open == string.p || open[-1] == ' ')))
		return open - string.p;
	while (i > 0) {
		char byte = string.p[--i];

		depth += byte == ')';
		if (byte == '(' && --depth == 0) {
			if (i == 0 || string.p[i - 1] == ' ')
				return (ptrdiff_t)i;
			break;
		}
	}
	for (i = string.n - 1; i-- > 1;) /* the path has unbalanced parentheses: find " (/" or " ([" */
		if (string.p[i] == '(' && string.p[i - 1] == ' ' && (string.p[i + 1] == '/' || string.p[i + 1] == '['))
			return (ptrdiff_t)i;
	return -1;
}

/* Splits frame_text, "sym+0x1a (dso)", into "sym" and " (dso)", which both point into it. */
static void linecache_split_line(struct str frame_text, struct str *symbol, struct str *rest)
{
	ptrdiff_t dso;

	frame_text = str_trim_right(frame_text);
	dso = find_dso(frame_text);
	*symbol = dso < 0 ? frame_text : str_head(frame_text, dso > 0 ? (size_t)dso - 1 : 0);
	*rest = str_from(frame_text, symbol->n);
	symbol->n -= offset_length(*symbol);
}

struct names_frame linecache_split(struct str frame_text)
{
	struct names_frame frame = { 0 };
	struct str rest;

	linecache_split_line(frame_text, &frame.symbol, &rest);
	frame.symbol = str_trim(frame.symbol);
	if (rest.n) {
		size_t open = rest.p[0] == '(' ? 1 : 2;

		frame.dso = str_head(str_from(rest, open), rest.n - open - 1);
	}
	frame.inlined = str_eq(frame.dso, STR("inlined"));
	if (frame.inlined)
		frame.dso = (struct str){ 0 };
	return frame;
}

/* Removes the offset from " (dso+0x12)", perf script's form of a DSO with -F+dsoff: otherwise each address would have
 * its own DSO. The result is valid until the next call. */
static struct str without_dso_offset(struct linecache *lines, struct str rest)
{
	struct str inner;
	size_t offset;

	if (rest.n < 3)
		return rest;
	inner = str_head(rest, rest.n - 1);
	offset = offset_length(inner);
	if (offset == 0)
		return rest;
	if (rest.n > lines->scratch_cap) {
		lines->scratch_cap = rest.n * 2;
		lines->scratch = mem_grow(lines->scratch, 1, lines->scratch_cap);
	}
	memcpy(lines->scratch, rest.p, inner.n - offset);
	lines->scratch[inner.n - offset] = ')';
	return (struct str){ lines->scratch, inner.n - offset + 1 };
}

static struct line_entry *entry_at(const struct linecache *lines, uint32_t at)
{
	return (struct line_entry *)(void *)(lines->pool + (size_t)at * 8);
}

static size_t entry_size(const struct line_entry *entry)
{
	return (sizeof(*entry) + entry->symbol_n + entry->rest_n + 7) & ~(size_t)7;
}

static void linecache_grow_slots(struct linecache *lines)
{
	uint32_t nslots = lines->mask ? (lines->mask + 1) * 2 : 4096;

	free(lines->slot);
	lines->slot = mem_alloc(sizeof(*lines->slot), nslots);
	lines->mask = nslots - 1;
	for (size_t at = 8; at < lines->pool_n; at += entry_size(entry_at(lines, (uint32_t)(at / 8)))) {
		uint32_t i = entry_at(lines, (uint32_t)(at / 8))->hash & lines->mask;

		while (lines->slot[i])
			i = (i + 1) & lines->mask;
		lines->slot[i] = (uint32_t)(at / 8);
	}
}

/* Sets the frame ids of an entry. names_make() returns the outermost frame first; the callers of the innermost frame
 * are stored innermost first, as in samples. */
static void name_frames(struct linecache *lines, struct line_entry *entry, struct names_frame frame)
{
	struct str names = names_make(lines->names, frame);
	uint32_t n = 1;

	for (size_t i = 0; i < names.n; i++)
		n += names.p[i] == '\n';
	if (n > 1) {
		if (lines->nmore + n + 1 > lines->more_cap) {
			lines->more_cap = (lines->nmore + n + 1) * 2;
			lines->more = mem_grow(lines->more, sizeof(*lines->more), lines->more_cap);
		}
		if (lines->nmore == 0)
			lines->nmore = 1; /* index 0 of `more` means no callers */
		entry->callers = lines->nmore;
		lines->nmore += n;
		lines->more[lines->nmore - 1] = 0;
		for (uint32_t i = n - 1; i-- > 0;)
			lines->more[entry->callers + i] = stacks_frame(lines->stacks, str_cut(&names, '\n'));
	}
	entry->frame = stacks_frame(lines->stacks, names);
	entry->unresolved = names_unresolved(frame);
}

static uint32_t linecache_add_entry(struct linecache *lines, struct str symbol, struct str rest, uint32_t hash)
{
	size_t at = lines->pool_n, size = (sizeof(struct line_entry) + symbol.n + rest.n + 7) & ~(size_t)7;
	struct line_entry *entry;

	if (at + size > lines->pool_cap) {
		lines->pool_cap = lines->pool_cap + lines->pool_cap / 2 + size;
		lines->pool = mem_grow(lines->pool, 1, lines->pool_cap);
	}
	if (at / 8 > UINT32_MAX || symbol.n + rest.n > UINT32_MAX)
		die("more than 32 GB of distinct frame lines");
	lines->pool_n += size;
	lines->n++;
	entry = entry_at(lines, (uint32_t)(at / 8));
	*entry = (struct line_entry){ .hash = hash, .symbol_n = (uint32_t)symbol.n, .rest_n = (uint32_t)rest.n };
	if (symbol.n)
		memcpy(entry->key, symbol.p, symbol.n);
	if (rest.n)
		memcpy(entry->key + symbol.n, rest.p, rest.n);
	name_frames(lines, entry, linecache_split((struct str){ entry->key, symbol.n + rest.n }));
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
				return same_8(a + n - 8,
					      b + n - 8); /* the last 8 bytes overlap bytes already compared */
		}
		return same_8(a, b);
	}
	while (n--)
		if (*a++ != *b++)
			return false;
	return true;
}

static bool entry_is(const struct line_entry *entry, struct str frame_text)
{
	size_t n = (size_t)entry->symbol_n + entry->rest_n;

	return frame_text.n >= n && linecache_same_bytes(frame_text.p, entry->key, entry->symbol_n) &&
	       linecache_same_bytes(frame_text.p + frame_text.n - entry->rest_n, entry->key + entry->symbol_n,
				    entry->rest_n) &&
	       is_offset(frame_text.p + entry->symbol_n, frame_text.n - n);
}

/* Returns the index (offset in the pool / 8) of the entry for the line's symbol and DSO. Makes an entry if there is
 * none. */
static uint32_t linecache_find_entry(struct linecache *lines, struct str frame_text)
{
	struct str symbol, rest;
	uint32_t hash, i;

	linecache_split_line(frame_text, &symbol, &rest);
	rest = without_dso_offset(lines, rest);
	hash = (uint32_t)(hash_bytes(symbol.p, symbol.n) * 31 + hash_bytes(rest.p, rest.n));
	if (lines->n >= lines->mask / 2)
		linecache_grow_slots(lines);
	for (i = hash & lines->mask; lines->slot[i]; i = (i + 1) & lines->mask) {
		const struct line_entry *entry = entry_at(lines, lines->slot[i]);

		if (entry->hash == hash && entry->symbol_n == symbol.n && entry->rest_n == rest.n &&
		    memcmp(entry->key, symbol.p, symbol.n) == 0 && memcmp(entry->key + symbol.n, rest.p, rest.n) == 0)
			return lines->slot[i];
	}
	lines->slot[i] = linecache_add_entry(lines, symbol, rest, hash);
	return lines->slot[i];
}

void linecache_init(struct linecache *lines, struct names *names, struct stacks *stacks)
{
	*lines = (struct linecache){ .names = names, .stacks = stacks };
	lines->front = mem_alloc(sizeof(*lines->front), FRONT_SETS);
	lines->pool_cap = 1 << 16;
	lines->pool = mem_grow(NULL, 1, lines->pool_cap);
	lines->pool_n = 8; /* offset 0 in the pool means no entry */
}

void linecache_hash(const struct linecache *lines, struct line_ref *ref)
{
	ref->hash = hash_bytes(ref->p, ref->n);
	__builtin_prefetch(&lines->front[ref->hash & (FRONT_SETS - 1)]);
}

void linecache_guess(const struct linecache *lines, struct line_ref *ref)
{
	const struct linecache_set *set = &lines->front[ref->hash & (FRONT_SETS - 1)];
	uint32_t tag = (uint32_t)(ref->hash >> 32);

	ref->guess = set->tag[0] == tag ? set->entry[0] : set->tag[1] == tag ? set->entry[1] : 0;
	__builtin_prefetch(entry_at(lines, ref->guess));
	__builtin_prefetch(entry_at(lines, ref->guess)->key + 40);
}

const struct line_entry *linecache_get(struct linecache *lines, const struct line_ref *ref)
{
	struct str frame_text = { ref->p, ref->n };
	struct linecache_set *set;
	uint32_t at;

	if (likely(ref->guess && entry_is(entry_at(lines, ref->guess), frame_text)))
		return entry_at(lines, ref->guess);
	at = linecache_find_entry(lines, frame_text);
	set = &lines->front[ref->hash & (FRONT_SETS - 1)];
	set->tag[1] = set->tag[0];
	set->entry[1] = set->entry[0];
	set->tag[0] = (uint32_t)(ref->hash >> 32);
	set->entry[0] = at;
	return entry_at(lines, at);
}

void linecache_free(struct linecache *lines)
{
	free(lines->pool);
	free(lines->slot);
	free(lines->front);
	free(lines->more);
	free(lines->scratch);
	*lines = (struct linecache){ 0 };
}
