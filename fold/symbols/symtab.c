/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/symtab.h"

#include "fold/symbols/elfsyms.h"

#include <elf.h>
#include <stdlib.h>

#define BLOCK 2048           /* symbols that are read at once: 48 kB */
#define SYMS_MAX (32u << 20) /* of one table; the largest programs have 2 million */
#define LONGEST (32u << 10)
#define ROUNDS 9 /* the nearest symbol, and eight before it */
#define STRINGS_MAX (32u << 20)
#define NAME_COST 2048         /* to read one name costs as much as to read that many bytes of its table */
#define OVERLAPS (64u << 20)   /* steps that are spent on symbols which contain each other */
#define SPEND_SOME (1u << 20)  /* bytes of names that any file may give, ... */
#define SPEND_TIMES 8          /* ... so many for each byte of its strings, as demangling makes names longer, ... */
#define SPEND_MAX (128u << 20) /* ... and no more: nobody reads them */

/* ---- places: sorted numbers, with a table of where to look --------------------------------------------------- */

struct locationcache {
	const uint64_t *at;
	size_t n;
	uint64_t low;
	unsigned shift;
	uint32_t buckets;
	uint32_t *first; /* [buckets + 1]: the first at or above the bucket's start */
};

static void places_index(struct locationcache *p, const uint64_t *at, size_t n)
{
	uint64_t span = n ? at[n - 1] - at[0] : 0;
	size_t i = 0;

	*p = (struct locationcache){ .at = at, .n = n, .low = n ? at[0] : 0 };
	while (span >> p->shift >= 4 * n + 16)
		p->shift++;
	p->buckets = (uint32_t)(span >> p->shift) + 1;
	p->first = mem_alloc(sizeof(*p->first), (size_t)p->buckets + 1);
	for (uint32_t b = 0; b <= p->buckets; b++) {
		while (i < n && (at[i] - p->low) >> p->shift < b)
			i++;
		p->first[b] = (uint32_t)i;
	}
}

/* The first place at or above a; n when there is none. */
static inline size_t places_from(const struct locationcache *p, uint64_t a)
{
	uint64_t b;
	size_t from, to;

	if (p->n == 0 || a <= p->low)
		return 0;
	b = (a - p->low) >> p->shift;
	if (b >= p->buckets)
		return p->n;
	from = p->first[b];
	to = p->first[b + 1];
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (p->at[middle] < a)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* ---- the stream of symbols -------------------------------------------------------------------------------- */

struct symbol {
	uint64_t start, size; /* place in the file; size 0: to the next start */
	uint32_t name;
	uint8_t bind, type;
};

enum { CODE_OR_DATA = 1, LABELS = 2 };

struct stream {
	const struct symtab *tab;
	const struct elffile *runtime;
	const struct elf_section *strings;
	uint8_t *use;     /* by section: CODE_OR_DATA, LABELS */
	uint64_t at, end; /* of the table, in the file */
	size_t entry;
	const struct elf_segment *last; /* the segment of the symbol before */
	char block[BLOCK * sizeof(Elf64_Sym)];
};

static bool has_word(struct str s, struct str word)
{
	return str_find_str(s, word) >= 0;
}

/* perf takes labels only from sections whose name has "text" or "data" in it. */
static uint8_t *section_use(const struct elffile *f)
{
	uint8_t *use = mem_alloc(1, f->sections + 1);

	for (size_t i = 1; i < f->sections; i++) {
		const struct elf_section *s = &f->section[i];

		if (s->flags & SHF_ALLOC)
			use[i] = CODE_OR_DATA |
				 (has_word(s->name, STR("text")) || has_word(s->name, STR("data")) ? LABELS : 0);
	}
	return use;
}

static bool stream_open(struct stream *s, const struct symtab *tab, const struct elffile *runtime)
{
	const struct elffile *f = tab->file;
	uint64_t n;

	*s = (struct stream){ .tab = tab,
			      .runtime = runtime,
			      .entry = f->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym) };
	if (tab->table->link >= f->sections || tab->table->entsize != s->entry)
		return false;
	s->strings = &f->section[tab->table->link];
	s->use = section_use(f);
	n = tab->table->size / s->entry;
	s->at = tab->table->offset;
	s->end = s->at + (n < SYMS_MAX ? n : SYMS_MAX) * s->entry;
	return s->end > s->at;
}

static void stream_close(struct stream *s)
{
	free(s->use);
}

static uint64_t to_place(struct stream *s, uint64_t vaddr, const struct elf_section *section)
{
	const struct elf_segment *p = s->last;
	const struct elffile *r = s->runtime;

	if (!r)
		return vaddr;
	if (p && vaddr - p->vaddr < p->memsz && vaddr >= p->vaddr)
		return vaddr - p->vaddr + p->offset;
	for (size_t i = 0; i < r->segments; i++) {
		p = &r->segment[i];
		if (vaddr >= p->vaddr && vaddr - p->vaddr < (p->memsz > p->filesz ? p->memsz : p->filesz)) {
			s->last = p;
			return vaddr - p->vaddr + p->offset;
		}
	}
	/* as sections lie: objects, and what writes no segments */
	if (section->type == SHT_NOBITS && (size_t)(section - s->tab->file->section) < r->sections)
		section = &r->section[section - s->tab->file->section];
	return vaddr - section->addr + section->offset;
}

/* Can it be the name of a place? As perf's filters say. */
static inline bool symtab_wanted(const struct stream *s, const Elf64_Sym *sym)
{
	unsigned type = ELF64_ST_TYPE(sym->st_info), see = ELF64_ST_VISIBILITY(sym->st_other);

	if (sym->st_name == 0 || sym->st_shndx == SHN_UNDEF || sym->st_shndx >= s->tab->file->sections)
		return false;
	switch (type) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
	case STT_OBJECT: return s->use[sym->st_shndx];
	case STT_NOTYPE: return s->use[sym->st_shndx] & LABELS && see != STV_HIDDEN && see != STV_INTERNAL;
	default: return false;
	}
}

/* $a $d $t $x: where code and data begin in files for ARM; no names. */
static bool is_mapping_symbol(struct stream *s, const Elf64_Sym *sym)
{
	const struct elffile *f = s->tab->file;
	char name[3] = { 0 };

	if (f->machine != EM_ARM && f->machine != EM_AARCH64)
		return false;
	elffile_read(f, s->strings->offset + sym->st_name, name, sizeof(name));
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) && (name[2] == '\0' || name[2] == '.');
}

static inline void as_wide(const char *p, bool wide, Elf64_Sym *sym)
{
	Elf32_Sym narrow;

	if (wide) {
		memcpy(sym, p, sizeof(*sym));
		return;
	}
	memcpy(&narrow, p, sizeof(narrow));
	*sym = (Elf64_Sym){ narrow.st_name,  narrow.st_info,  narrow.st_other,
			    narrow.st_shndx, narrow.st_value, narrow.st_size };
}

/* The next symbols; 0 at the end, or where the file ends. */
static size_t stream_block(struct stream *s, struct symbol *out)
{
	const struct elffile *f = s->tab->file;
	size_t n = 0;

	while (n == 0 && s->at < s->end) {
		size_t want = s->end - s->at < BLOCK * s->entry ? (size_t)(s->end - s->at) : BLOCK * s->entry;
		size_t got = elffile_read(f, s->at, s->block, want);

		for (size_t i = 0; i + s->entry <= got; i += s->entry) {
			Elf64_Sym sym;

			as_wide(s->block + i, f->wide, &sym);
			if (!symtab_wanted(s, &sym) || is_mapping_symbol(s, &sym))
				continue;
			if (f->machine == EM_ARM && ELF64_ST_TYPE(sym.st_info) == STT_FUNC)
				sym.st_value &= ~(uint64_t)1; /* Thumb */
			out[n++] =
				(struct symbol){ to_place(s, sym.st_value, &f->section[sym.st_shndx]), sym.st_size,
						 sym.st_name, ELF64_ST_BIND(sym.st_info), ELF64_ST_TYPE(sym.st_info) };
		}
		s->at = got < want ? s->end : s->at + got;
	}
	return n;
}

/* Calls each with the symbols of all tables, block by block. */
typedef void each_block(void *to, size_t table, const struct symbol *symbol, size_t n);

static void stream_all(struct symtab_search *s, each_block *each, void *to)
{
	struct stream *stream = mem_alloc(sizeof(*stream), 1);
	struct symbol *block = mem_alloc(sizeof(*block), BLOCK);
	size_t n;

	for (size_t t = 0; t < s->n_tables; t++) {
		if (stream_open(stream, &s->tables[t], s->runtime))
			while ((n = stream_block(stream, block)) > 0) {
				s->any = true;
				each(to, t, block, n);
			}
		each(to, t, NULL, 0); /* its end */
		stream_close(stream);
	}
	free(block);
	free(stream);
}

/* ---- where symbols start -------------------------------------------------------------------------------------- */

#define NOWHERE UINT64_MAX

/* Places that have no answer yet, and the starts of symbols that may be theirs. */
struct open_places {
	struct locationcache places;
	bool first;        /* first round: nearest is looked for, too */
	uint64_t *nearest; /* by place: the nearest start at or before it */
	uint64_t *reach;   /* by place: the nearest start, below `below`, of a symbol that is large enough */
	uint64_t *below;   /* by place */
	uint64_t last;     /* the last start of all */
	size_t steps;
};

/* Only the first place behind each start is told; carry_nearest tells the others. */
static inline void note_nearest(struct open_places *o, size_t i, uint64_t start)
{
	if (start > o->last || o->last == NOWHERE)
		o->last = start;
	if (i < o->places.n && (o->nearest[i] == NOWHERE || start > o->nearest[i]))
		o->nearest[i] = start;
}

static void carry_nearest(struct open_places *o)
{
	for (size_t i = 1; i < o->places.n; i++)
		if (o->nearest[i] == NOWHERE || (o->nearest[i - 1] != NOWHERE && o->nearest[i - 1] > o->nearest[i]))
			o->nearest[i] = o->nearest[i - 1];
}

static inline void note_reach(struct open_places *o, size_t i, const struct symbol *s)
{
	for (; i < o->places.n && o->places.at[i] - s->start < s->size; i++) {
		/* a hostile table in which all contain all is not worth its time */
		if (++o->steps > OVERLAPS)
			return;
		if (s->start < o->below[i] && (o->reach[i] == NOWHERE || s->start > o->reach[i]))
			o->reach[i] = s->start;
	}
}

static void note_starts(void *to, size_t table, const struct symbol *symbol, size_t n)
{
	struct open_places *o = to;

	(void)table;
	for (size_t k = 0; k < n; k++) {
		size_t i = places_from(&o->places, symbol[k].start);

		if (o->first)
			note_nearest(o, i, symbol[k].start);
		note_reach(o, i, &symbol[k]);
	}
}

/* ---- which of the symbols that start there --------------------------------------------------------------------- */

struct candidate {
	bool is;
	bool loaded; /* text is */
	size_t table;
	struct symbol symbol;
	struct str raw, text; /* in the file, and demangled */
};

struct group { /* all symbols that start at one place */
	struct candidate best;
	struct candidate unsized; /* the last one of the current table, if it has no size */
	bool ifunc;
	uint32_t name;
};

/* A string table in memory, when so many of its names are needed that one read of it all costs less than one for each.
 */
struct strings {
	bool tried;
	struct str all;
};

struct choice {
	struct symtab_search *search;
	struct strings *strings; /* by table */
	struct locationcache starts;
	struct group *group;
	struct arena arena;
};

void symtab_string(struct text *out, const struct elffile *f, const struct elf_section *table, uint32_t name)
{
	size_t from = out->n, step = 128;

	if (name >= table->size || table->type == SHT_NOBITS)
		return;
	while (out->n - from < LONGEST && name + (out->n - from) < table->size) {
		uint64_t left = table->size - name - (out->n - from);
		size_t want = left < step ? (size_t)left : step, got;
		const char *end;

		text_reserve(out, want);
		got = elffile_read(f, table->offset + name + (out->n - from), out->p + out->n, want);
		end = got ? memchr(out->p + out->n, 0, got) : NULL;
		out->n = end ? (size_t)(end - out->p) : out->n + got;
		if (end || got < want)
			return;
		step = 2048;
	}
}

bool symtab_spend(struct symtab_search *s, size_t n)
{
	uint64_t max = SPEND_SOME;

	for (size_t t = 0; t < s->n_tables; t++) {
		const struct elffile *f = s->tables[t].file;
		uint32_t link = s->tables[t].table->link;
		uint64_t size = link < f->sections ? f->section[link].size : 0;

		max += SPEND_TIMES * (size < f->size ? size : f->size);
	}
	s->spent += n; /* stays too much when it once was */
	return s->spent <= (max < SPEND_MAX ? max : SPEND_MAX);
}

static void read_strings(struct choice *c, struct strings *s, const struct elffile *f, const struct elf_section *table)
{
	uint64_t size = table->size < f->size ? table->size : 0;
	char *p;

	s->tried = true;
	if (table->type == SHT_NOBITS || size == 0 || size > STRINGS_MAX || size / NAME_COST > c->starts.n)
		return;
	p = mem_alloc(1, size);
	s->all = (struct str){ p, elffile_read(f, table->offset, p, size) };
}

static struct str symtab_read_name(struct choice *c, const struct candidate *k)
{
	const struct symtab *tab = &c->search->tables[k->table];
	const struct elf_section *table = &tab->file->section[tab->table->link];
	struct strings *s = &c->strings[k->table];
	struct text *t = &c->search->text;
	const char *end;

	if (!s->tried)
		read_strings(c, s, tab->file, table);
	if (k->symbol.name < s->all.n) {
		struct str rest = str_from(s->all, k->symbol.name);

		if (rest.n > LONGEST)
			rest.n = LONGEST;
		end = memchr(rest.p, 0, rest.n);
		return end ? str_head(rest, (size_t)(end - rest.p)) : rest;
	}
	t->n = 0;
	symtab_string(t, tab->file, table, k->symbol.name);
	return arena_copy(&c->arena, text_view(t));
}

/* Empty when too much was spent. */
static struct str symtab_name_of(struct choice *c, const struct candidate *k)
{
	struct str name = { 0 };

	if (symtab_spend(c->search, 0))
		name = symtab_read_name(c, k);
	return symtab_spend(c->search, name.n) ? name : (struct str){ 0 };
}

static void symtab_load(struct choice *c, struct candidate *k)
{
	struct text *t = &c->search->text;

	if (k->loaded)
		return;
	k->loaded = true;
	k->text = k->raw = k->raw.p ? k->raw : symtab_name_of(c, k);
	t->n = 0;
	if (!c->search->mangled && elfsyms_demangle(t, k->raw) && symtab_spend(c->search, t->n))
		k->text = arena_copy(&c->arena, text_view(t));
}

static size_t symtab_underscores(struct str s)
{
	size_t n = 0;

	while (n < s.n && s.p[n] == '_')
		n++;
	return n;
}

/* perf's rules for aliases. b comes later in the tables. */
static bool second_wins(struct choice *c, struct candidate *a, struct candidate *b)
{
	bool weak_a = a->symbol.bind == STB_WEAK, weak_b = b->symbol.bind == STB_WEAK;
	bool global_a = a->symbol.bind == STB_GLOBAL, global_b = b->symbol.bind == STB_GLOBAL;

	if (weak_a != weak_b)
		return weak_a;
	if (global_a != global_b)
		return global_b;
	symtab_load(c, a);
	b->raw = symtab_name_of(c, b);
	if (b->raw.n == 0 || str_eq(a->raw, b->raw)) /* .dynsym repeats .symtab */
		return false;
	symtab_load(c, b);
	if (symtab_underscores(a->text) != symtab_underscores(b->text))
		return symtab_underscores(b->text) < symtab_underscores(a->text);
	return b->text.n > a->text.n;
}

static void symtab_challenge(struct choice *c, struct group *g, const struct candidate *k)
{
	struct candidate b = *k;

	if (!g->best.is || second_wins(c, &g->best, &b))
		g->best = b;
}

/* A symbol without size reaches to the next start when it is the last one of its table that starts here; others lose.
 */
static void end_of_table(struct choice *c)
{
	for (size_t i = 0; i < c->starts.n; i++) {
		struct group *g = &c->group[i];

		if (g->unsized.is)
			symtab_challenge(c, g, &g->unsized);
		g->unsized.is = false;
	}
}

static void symtab_choose(void *to, size_t table, const struct symbol *symbol, size_t n)
{
	struct choice *c = to;

	if (n == 0)
		end_of_table(c);
	for (size_t k = 0; k < n; k++) {
		size_t i = places_from(&c->starts, symbol[k].start);
		struct candidate new;
		struct group *g;

		if (likely(i >= c->starts.n || c->starts.at[i] != symbol[k].start))
			continue;
		new = (struct candidate){ .is = true, .table = table, .symbol = symbol[k] };
		g = &c->group[i];
		g->ifunc |= symbol[k].type == STT_GNU_IFUNC;
		g->unsized.is = false;
		if (symbol[k].size == 0)
			g->unsized = new;
		else
			symtab_challenge(c, g, &new);
	}
}

static uint32_t group_name(struct choice *c, struct group *g)
{
	if (!g->name) {
		symtab_load(c, &g->best);
		g->name = g->best.text.n ? intern(c->search->names, g->best.text) : 0;
	}
	return g->name;
}

/* ---- rounds -------------------------------------------------------------------------------------------------- */

struct work {
	struct symtab_search *search;
	struct open_places open;
	uint64_t *at;                  /* the places that are open */
	struct symtab_answer **answer; /* theirs */
	size_t n;
};

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The distinct starts that were found, ascending; caller frees. */
static uint64_t *distinct_starts(const struct open_places *o, size_t *count)
{
	uint64_t *s = mem_alloc(2 * sizeof(*s), o->places.n + 1);
	size_t n = 0, m = 0;

	for (size_t i = 0; i < o->places.n; i++) {
		uint64_t a = o->nearest[i], b = o->reach[i];

		if (o->first && a != NOWHERE && (n == 0 || s[n - 1] != a))
			s[n++] = a;
		if (b != NOWHERE && (!o->first || b != a) && (n == 0 || s[n - 1] != b))
			s[n++] = b;
	}
	qsort(s, n, sizeof(*s), by_value);
	for (size_t i = 0; i < n; i++)
		if (m == 0 || s[m - 1] != s[i])
			s[m++] = s[i];
	*count = m;
	return s;
}

/* Does the chosen symbol of the group reach the place? One without size does when no other starts between. */
static bool symtab_reaches(const struct open_places *o, const struct group *g, uint64_t at, bool nearest)
{
	uint64_t start = g->best.symbol.start;

	if (!g->best.is)
		return false;
	if (g->best.symbol.size)
		return at - start < g->best.symbol.size;
	if (start == o->last) /* of all: perf gives it the rest of its page, and one more */
		return at < ((start + 4095) & ~(uint64_t)4095) + 4096;
	return nearest;
}

static struct group *group_at(struct choice *c, uint64_t start)
{
	return start == NOWHERE ? NULL : &c->group[places_from(&c->starts, start)];
}

/* The group whose symbol reaches the place i; or NULL, and *below is where to look on (0: nowhere). */
static struct group *symtab_reaching(struct work *w, struct choice *c, size_t i, uint64_t *below)
{
	struct open_places *o = &w->open;
	struct group *near = o->first ? group_at(c, o->nearest[i]) : NULL, *g = group_at(c, o->reach[i]);

	if (near && symtab_reaches(o, near, w->at[i], true))
		return near;
	if (g && symtab_reaches(o, g, w->at[i], false))
		return g;
	*below = g ? o->reach[i] : 0;
	return NULL;
}

/* Answers the places that a chosen symbol reaches; closes them, and those where there is nothing left to look at. */
static void symtab_settle(struct work *w)
{
	struct choice c = { .search = w->search };
	size_t n, left = 0;
	uint64_t *starts = distinct_starts(&w->open, &n), below = 0;

	places_index(&c.starts, starts, n);
	c.group = mem_alloc(sizeof(*c.group), n + 1);
	c.strings = mem_alloc(sizeof(*c.strings), w->search->n_tables + 1);
	if (n)
		stream_all(w->search, symtab_choose, &c);
	for (size_t i = 0; i < w->n; i++) {
		struct group *g = symtab_reaching(w, &c, i, &below);

		if (g) {
			*w->answer[i] = (struct symtab_answer){ g->best.symbol.start, group_name(&c, g), g->ifunc };
		} else if (below) {
			w->at[left] = w->at[i];
			w->answer[left] = w->answer[i];
			w->open.below[left++] = below;
		}
	}
	w->n = left;
	for (size_t t = 0; t < w->search->n_tables; t++)
		free((char *)(uintptr_t)c.strings[t].all.p);
	free(c.strings);
	free(c.starts.first);
	free(c.group);
	free(starts);
	arena_free(&c.arena);
}

static void one_round(struct work *w, bool first)
{
	struct open_places *o = &w->open;

	places_index(&o->places, w->at, w->n);
	for (size_t i = 0; i < w->n; i++) {
		o->nearest[i] = o->reach[i] = NOWHERE;
		if (first)
			o->below[i] = NOWHERE;
	}
	if (first)
		o->last = NOWHERE;
	o->first = first;
	stream_all(w->search, note_starts, o);
	carry_nearest(o);
	free(o->places.first);
	symtab_settle(w);
}

void symtab_resolve(struct symtab_search *s, const uint64_t *at, size_t n, struct symtab_answer *answer)
{
	struct work w = { .search = s, .n = n };
	uint64_t *space = mem_alloc(4 * sizeof(*space), n + 1);

	w.at = space;
	w.open.nearest = space + n;
	w.open.reach = space + 2 * n;
	w.open.below = space + 3 * n;
	w.answer = mem_alloc(sizeof(*w.answer), n + 1);
	for (size_t i = 0; i < n; i++) {
		w.at[i] = at[i];
		w.answer[i] = &answer[i];
	}
	for (int round = 0; round < ROUNDS && w.n; round++)
		one_round(&w, round == 0);
	free(w.answer);
	free(space);
}

#define FIND_MAX (256u << 20)

bool symtab_find(const struct symtab *tab, struct str name, uint64_t *address)
{
	struct stream *stream = mem_alloc(sizeof(*stream), 1);
	struct symbol *block = mem_alloc(sizeof(*block), BLOCK);
	struct str strings = { 0 };
	bool found = false;
	size_t n;

	if (stream_open(stream, tab, NULL))
		strings = elffile_bytes((struct elffile *)(uintptr_t)tab->file, stream->strings, FIND_MAX);
	while (strings.n && !found && (n = stream_block(stream, block)) > 0)
		for (size_t i = 0; i < n && !found; i++) {
			uint64_t at = block[i].name;

			found = at < strings.n && strings.n - at > name.n &&
				memcmp(strings.p + at, name.p, name.n) == 0 && strings.p[at + name.n] == 0;
			if (found)
				*address = block[i].start;
		}
	stream_close(stream);
	free(block);
	free(stream);
	return found;
}
