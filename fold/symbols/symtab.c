/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/symtab.h"

#include "common/formats/elfhead.h"
#include "fold/symbols/elfsyms.h"

#include <elf.h>
#include <stdlib.h>

#define BLOCK 2048 /* number of symbols read at a time: 48 kB */
/* Maximum number of symbols that are read of a table; further symbols are ignored. The largest programs have 2
 * million. */
#define SYMS_MAX (32u << 20)
#define LONGEST (32u << 10)
/* Maximum rounds of a search: the first tries the nearest symbol, each later one an earlier symbol. An offset that the
 * last round leaves open gets no symbol. */
#define ROUNDS 9
#define STRINGS_MAX (32u << 20)
/* cost of reading one name, in bytes: if a string table has more bytes for each requested name, names are read one by
 * one instead of the complete table */
#define NAME_COST 2048
/* maximum number of steps through offsets in overlapping symbols; further overlaps are not searched */
#define OVERLAPS (64u << 20)
/* Limit for the bytes of a file's names: SPEND_SOME plus SPEND_TIMES times the size of its string tables, at most
 * SPEND_MAX. A name beyond the limit is left out. */
#define SPEND_SOME (1u << 20)
#define SPEND_TIMES 8
#define SPEND_MAX (128u << 20)

/* ---- sorted offsets, with a table of positions by bucket ------------------------------------------------------ */

struct offset_table {
	const uint64_t *at;
	size_t n;
	uint64_t low;
	unsigned shift;
	uint32_t buckets;
	uint32_t *first; /* index in `at` of the first offset at or above the start of a bucket; buckets + 1 elements */
};

static void offsets_index(struct offset_table *table, const uint64_t *at, size_t n)
{
	uint64_t span = n ? at[n - 1] - at[0] : 0;
	size_t i = 0;

	*table = (struct offset_table){ .at = at, .n = n, .low = n ? at[0] : 0 };
	while (span >> table->shift >= 4 * n + 16)
		table->shift++;
	table->buckets = (uint32_t)(span >> table->shift) + 1;
	table->first = mem_alloc(sizeof(*table->first), (size_t)table->buckets + 1);
	for (uint32_t b = 0; b <= table->buckets; b++) {
		while (i < n && (at[i] - table->low) >> table->shift < b)
			i++;
		table->first[b] = (uint32_t)i;
	}
}

/* Returns the index of the first offset that is at least a; n if there is none. */
static inline size_t offsets_from(const struct offset_table *table, uint64_t a)
{
	uint64_t b;
	size_t from, to;

	if (table->n == 0 || a <= table->low)
		return 0;
	b = (a - table->low) >> table->shift;
	if (b >= table->buckets)
		return table->n;
	from = table->first[b];
	to = table->first[b + 1];
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (table->at[middle] < a)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* ---- reading of symbol tables in blocks ------------------------------------------------------------------- */

struct symbol {
	uint64_t start, size; /* start: file offset; size: 0 if the symbol extends to the next start */
	uint32_t name;
	uint8_t bind, type;
};

enum { CODE_OR_DATA = 1, LABELS = 2 };

struct stream {
	const struct symtab *tab;
	const struct elffile *runtime;
	const struct elf_section *strings;
	uint8_t *use;     /* for each section index: kinds of symbols that are used, bits CODE_OR_DATA and LABELS */
	uint64_t at, end; /* file offsets of the next symbol, and of the end of the table */
	size_t entry;
	const struct elf_segment *last; /* segment that contains the previous symbol */
	char block[BLOCK * sizeof(Elf64_Sym)];
};

static bool has_word(struct str string, struct str word)
{
	return str_find_str(string, word) >= 0;
}

/* Returns, for each section, the kinds of symbols that perf uses: labels (STT_NOTYPE) only if the section's name
 * contains "text" or "data". */
static uint8_t *section_use(const struct elffile *elffile)
{
	uint8_t *use = mem_alloc(1, elffile->sections + 1);

	for (size_t i = 1; i < elffile->sections; i++) {
		const struct elf_section *section = &elffile->section[i];

		if (section->flags & SHF_ALLOC)
			use[i] =
				CODE_OR_DATA |
				(has_word(section->name, STR("text")) || has_word(section->name, STR("data")) ? LABELS :
														0);
	}
	return use;
}

static bool stream_open(struct stream *stream, const struct symtab *tab, const struct elffile *runtime)
{
	const struct elffile *elffile = tab->file;
	uint64_t n;

	*stream = (struct stream){ .tab = tab,
				   .runtime = runtime,
				   .entry = elffile->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym) };
	if (tab->table->link >= elffile->sections || tab->table->entsize != stream->entry)
		return false;
	stream->strings = &elffile->section[tab->table->link];
	stream->use = section_use(elffile);
	n = tab->table->size / stream->entry;
	stream->at = tab->table->offset;
	stream->end = stream->at + (n < SYMS_MAX ? n : SYMS_MAX) * stream->entry;
	return stream->end > stream->at;
}

static void stream_close(struct stream *stream)
{
	free(stream->use);
}

static uint64_t to_place(struct stream *stream, uint64_t vaddr, const struct elf_section *section)
{
	const struct elf_segment *segment = stream->last;
	const struct elffile *elffile = stream->runtime;

	if (!elffile)
		return vaddr;
	if (segment && vaddr - segment->vaddr < segment->memsz && vaddr >= segment->vaddr)
		return vaddr - segment->vaddr + segment->offset;
	for (size_t i = 0; i < elffile->segments; i++) {
		segment = &elffile->segment[i];
		if (vaddr >= segment->vaddr &&
		    vaddr - segment->vaddr < (segment->memsz > segment->filesz ? segment->memsz : segment->filesz)) {
			stream->last = segment;
			return vaddr - segment->vaddr + segment->offset;
		}
	}
	/* In object files and files without segments, the section header gives the offset. */
	if (section->type == SHT_NOBITS && (size_t)(section - stream->tab->file->section) < elffile->sections)
		section = &elffile->section[section - stream->tab->file->section];
	return vaddr - section->addr + section->offset;
}

/* Returns true if the symbol passes perf's filters for symbols that can name code; a symbol with the result false is
 * ignored. */
static inline bool symtab_wanted(const struct stream *stream, const Elf64_Sym *sym)
{
	unsigned type = ELF64_ST_TYPE(sym->st_info), see = ELF64_ST_VISIBILITY(sym->st_other);

	if (sym->st_name == 0 || sym->st_shndx == SHN_UNDEF || sym->st_shndx >= stream->tab->file->sections)
		return false;
	switch (type) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
	case STT_OBJECT: return stream->use[sym->st_shndx];
	case STT_NOTYPE: return stream->use[sym->st_shndx] & LABELS && see != STV_HIDDEN && see != STV_INTERNAL;
	default: return false;
	}
}

/* Returns true for a mapping symbol ($a, $d, $t or $x): such a symbol marks code or data in files for ARM, and names
 * nothing. Returns false for all other symbols. */
static bool is_mapping_symbol(struct stream *stream, const Elf64_Sym *sym)
{
	const struct elffile *elffile = stream->tab->file;
	char name[3] = { 0 };

	if (elffile->machine != EM_ARM && elffile->machine != EM_AARCH64)
		return false;
	elffile_read(elffile, stream->strings->offset + sym->st_name, name, sizeof(name));
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) && (name[2] == '\0' || name[2] == '.');
}

/* Reads the next block of symbols. Returns the number of usable ones in `out`; 0 at the end of the table or of the
 * file. */
static size_t stream_block(struct stream *stream, struct symbol *out)
{
	const struct elffile *elffile = stream->tab->file;
	size_t n = 0;

	while (n == 0 && stream->at < stream->end) {
		size_t want = stream->end - stream->at < BLOCK * stream->entry ? (size_t)(stream->end - stream->at) :
										 BLOCK * stream->entry;
		size_t got = elffile_read(elffile, stream->at, stream->block, want);

		for (size_t i = 0; i + stream->entry <= got; i += stream->entry) {
			Elf64_Sym sym = elfhead_symbol(stream->block + i, elffile->wide);

			if (!symtab_wanted(stream, &sym) || is_mapping_symbol(stream, &sym))
				continue;
			if (elffile->machine == EM_ARM && ELF64_ST_TYPE(sym.st_info) == STT_FUNC)
				sym.st_value &= ~(uint64_t)1; /* bit 0 marks Thumb code */
			out[n++] = (struct symbol){ to_place(stream, sym.st_value, &elffile->section[sym.st_shndx]),
						    sym.st_size, sym.st_name, ELF64_ST_BIND(sym.st_info),
						    ELF64_ST_TYPE(sym.st_info) };
		}
		stream->at = got < want ? stream->end : stream->at + got;
	}
	return n;
}

/* Callback of stream_all, which passes the symbols of all tables block by block. n is 0 at the end of a table. */
typedef void each_block(void *to, size_t table, const struct symbol *symbol, size_t n);

static void stream_all(struct symtab_search *search, each_block *each, void *to)
{
	struct stream *stream = mem_alloc(sizeof(*stream), 1);
	struct symbol *block = mem_alloc(sizeof(*block), BLOCK);
	size_t n;

	for (size_t t = 0; t < search->n_tables; t++) {
		if (stream_open(stream, &search->tables[t], search->runtime))
			while ((n = stream_block(stream, block)) > 0) {
				search->any = true;
				each(to, t, block, n);
			}
		each(to, t, NULL, 0);
		stream_close(stream);
	}
	free(block);
	free(stream);
}

/* ---- starts of symbols ---------------------------------------------------------------------------------------- */

#define NOWHERE UINT64_MAX

/* Requested offsets without a symbol so far, and starts of symbols that may contain them. Element i of each array
 * belongs to table.at[i], requested offset i. */
struct open_lookups {
	struct offset_table table;
	bool first;        /* true in the first round, which also fills `nearest` */
	uint64_t *nearest; /* largest start of any symbol at or below the offset */
	uint64_t *reach;   /* largest start, less than `below`, among the symbols whose size includes the offset */
	uint64_t *below;   /* limit of `reach`: the start that the previous round tried */
	uint64_t last;     /* largest start of all symbols */
	size_t steps;
};

/* Raises nearest[i] to the start of a symbol. i: index of the first requested offset at or after that start.
 * carry_nearest() sets `nearest` of later offsets. */
static inline void note_nearest(struct open_lookups *lookups, size_t i, uint64_t start)
{
	if (start > lookups->last || lookups->last == NOWHERE)
		lookups->last = start;
	if (i < lookups->table.n && (lookups->nearest[i] == NOWHERE || start > lookups->nearest[i]))
		lookups->nearest[i] = start;
}

static void carry_nearest(struct open_lookups *lookups)
{
	for (size_t i = 1; i < lookups->table.n; i++)
		if (lookups->nearest[i] == NOWHERE ||
		    (lookups->nearest[i - 1] != NOWHERE && lookups->nearest[i - 1] > lookups->nearest[i]))
			lookups->nearest[i] = lookups->nearest[i - 1];
}

static inline void note_reach(struct open_lookups *lookups, size_t i, const struct symbol *symbol)
{
	for (; i < lookups->table.n && lookups->table.at[i] - symbol->start < symbol->size; i++) {
		/* limit the time for a hostile table in which each symbol contains all others: the time would otherwise
		 * be quadratic */
		if (++lookups->steps > OVERLAPS)
			return;
		if (symbol->start < lookups->below[i] &&
		    (lookups->reach[i] == NOWHERE || symbol->start > lookups->reach[i]))
			lookups->reach[i] = symbol->start;
	}
}

static void note_starts(void *to, size_t table, const struct symbol *symbol, size_t n)
{
	struct open_lookups *lookups = to;

	(void)table;
	for (size_t index = 0; index < n; index++) {
		size_t i = offsets_from(&lookups->table, symbol[index].start);

		if (lookups->first)
			note_nearest(lookups, i, symbol[index].start);
		note_reach(lookups, i, &symbol[index]);
	}
}

/* ---- choice among symbols with one start ----------------------------------------------------------------------- */

struct candidate {
	bool is;
	bool loaded; /* true if `raw` and `text` are set */
	size_t table;
	struct symbol symbol;
	struct str raw, text; /* raw: name as in the file; text: demangled name */
};

/* The best candidates among all symbols with the same start. */
struct group {
	struct candidate best;
	struct candidate unsized; /* last symbol with this start in the current table, if that symbol has no size */
	bool ifunc;
	uint32_t name;
};

/* A string table. `all` is the complete table in memory; it is empty if reading only the needed names costs less. */
struct strings {
	bool tried;
	struct str all;
};

struct choice {
	struct symtab_search *search;
	/* by index of a symbol table in search->tables: its string table */
	struct strings *strings;
	struct offset_table starts;
	struct group *group;
	struct arena arena;
};

void symtab_string(struct text *out, const struct elffile *elffile, const struct elf_section *table, uint32_t name)
{
	size_t from = out->n, step = 128;

	if (name >= table->size || table->type == SHT_NOBITS)
		return;
	while (out->n - from < LONGEST && name + (out->n - from) < table->size) {
		uint64_t left = table->size - name - (out->n - from);
		size_t want = left < step ? (size_t)left : step, got;
		const char *end;

		text_reserve(out, want);
		got = elffile_read(elffile, table->offset + name + (out->n - from), out->p + out->n, want);
		end = got ? memchr(out->p + out->n, 0, got) : NULL;
		out->n = end ? (size_t)(end - out->p) : out->n + got;
		if (end || got < want)
			return;
		step = 2048;
	}
}

bool symtab_spend(struct symtab_search *search, size_t n)
{
	uint64_t max = SPEND_SOME;

	for (size_t t = 0; t < search->n_tables; t++) {
		const struct elffile *elffile = search->tables[t].file;
		uint32_t link = search->tables[t].table->link;
		uint64_t size = link < elffile->sections ? elffile->section[link].size : 0;

		max += SPEND_TIMES * (size < elffile->size ? size : elffile->size);
	}
	search->spent += n; /* `spent` never decreases, so all calls fail after the first that exceeds the limit */
	return search->spent <= (max < SPEND_MAX ? max : SPEND_MAX);
}

static void read_strings(struct choice *choice, struct strings *strings, const struct elffile *elffile,
			 const struct elf_section *table)
{
	uint64_t size = table->size < elffile->size ? table->size : 0;
	char *p;

	strings->tried = true;
	if (table->type == SHT_NOBITS || size == 0 || size > STRINGS_MAX || size / NAME_COST > choice->starts.n)
		return;
	p = mem_alloc(1, size);
	strings->all = (struct str){ p, elffile_read(elffile, table->offset, p, size) };
}

static struct str symtab_read_name(struct choice *choice, const struct candidate *candidate)
{
	const struct symtab *tab = &choice->search->tables[candidate->table];
	const struct elf_section *table = &tab->file->section[tab->table->link];
	struct strings *strings = &choice->strings[candidate->table];
	struct text *text = &choice->search->text;
	const char *end;

	if (!strings->tried)
		read_strings(choice, strings, tab->file, table);
	if (candidate->symbol.name < strings->all.n) {
		struct str rest = str_from(strings->all, candidate->symbol.name);

		if (rest.n > LONGEST)
			rest.n = LONGEST;
		end = memchr(rest.p, 0, rest.n);
		return end ? str_head(rest, (size_t)(end - rest.p)) : rest;
	}
	text->n = 0;
	symtab_string(text, tab->file, table, candidate->symbol.name);
	return arena_copy(&choice->arena, text_view(text));
}

/* Returns the name of a symbol as in the file; empty if the limit for names (symtab_spend) is exceeded. */
static struct str symtab_name_of(struct choice *choice, const struct candidate *candidate)
{
	struct str name = { 0 };

	if (symtab_spend(choice->search, 0))
		name = symtab_read_name(choice, candidate);
	return symtab_spend(choice->search, name.n) ? name : (struct str){ 0 };
}

static void symtab_load(struct choice *choice, struct candidate *candidate)
{
	struct text *text = &choice->search->text;

	if (candidate->loaded)
		return;
	candidate->loaded = true;
	candidate->text = candidate->raw = candidate->raw.p ? candidate->raw : symtab_name_of(choice, candidate);
	text->n = 0;
	if (!choice->search->mangled && elfsyms_demangle(text, candidate->raw) && symtab_spend(choice->search, text->n))
		candidate->text = arena_copy(&choice->arena, text_view(text));
}

static size_t symtab_underscores(struct str string)
{
	size_t n = 0;

	while (n < string.n && string.p[n] == '_')
		n++;
	return n;
}

/* Returns true if an alias of the candidate replaces it by perf's rules; false if the candidate stays. b: the alias; it
 * must come later in the tables. */
static bool second_wins(struct choice *choice, struct candidate *candidate, struct candidate *b)
{
	bool weak_a = candidate->symbol.bind == STB_WEAK, weak_b = b->symbol.bind == STB_WEAK;
	bool global_a = candidate->symbol.bind == STB_GLOBAL, global_b = b->symbol.bind == STB_GLOBAL;

	if (weak_a != weak_b)
		return weak_a;
	if (global_a != global_b)
		return global_b;
	symtab_load(choice, candidate);
	b->raw = symtab_name_of(choice, b);
	/* .dynsym repeats symbols of .symtab: equal names are one symbol */
	if (b->raw.n == 0 || str_eq(candidate->raw, b->raw))
		return false;
	symtab_load(choice, b);
	if (symtab_underscores(candidate->text) != symtab_underscores(b->text))
		return symtab_underscores(b->text) < symtab_underscores(candidate->text);
	return b->text.n > candidate->text.n;
}

static void symtab_challenge(struct choice *choice, struct group *group, const struct candidate *candidate)
{
	struct candidate b = *candidate;

	if (!group->best.is || second_wins(choice, &group->best, &b))
		group->best = b;
}

/* Called at the end of a table. For each start, compares the best candidate with the table's last symbol at this start,
 * if that symbol has no size and so extends to the next start. */
static void end_of_table(struct choice *choice)
{
	for (size_t i = 0; i < choice->starts.n; i++) {
		struct group *group = &choice->group[i];

		if (group->unsized.is)
			symtab_challenge(choice, group, &group->unsized);
		group->unsized.is = false;
	}
}

static void symtab_choose(void *to, size_t table, const struct symbol *symbol, size_t n)
{
	struct choice *choice = to;

	if (n == 0)
		end_of_table(choice);
	for (size_t index = 0; index < n; index++) {
		size_t i = offsets_from(&choice->starts, symbol[index].start);
		struct candidate new;
		struct group *group;

		if (likely(i >= choice->starts.n || choice->starts.at[i] != symbol[index].start))
			continue;
		new = (struct candidate){ .is = true, .table = table, .symbol = symbol[index] };
		group = &choice->group[i];
		group->ifunc |= symbol[index].type == STT_GNU_IFUNC;
		group->unsized.is = false;
		if (symbol[index].size == 0)
			group->unsized = new;
		else
			symtab_challenge(choice, group, &new);
	}
}

static uint32_t group_name(struct choice *choice, struct group *group)
{
	if (!group->name) {
		symtab_load(choice, &group->best);
		group->name = group->best.text.n ? intern(choice->search->names, group->best.text) : 0;
	}
	return group->name;
}

/* ---- rounds of the search ------------------------------------------------------------------------------------ */

struct work {
	struct symtab_search *search;
	struct open_lookups open;
	uint64_t *at;                  /* requested offsets without a symbol so far */
	struct symtab_answer **answer; /* answer[i]: caller's result for at[i] */
	size_t n;
};

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Returns the starts of symbols to try in this round: those in `reach` and, in the first round, in `nearest`; in
 * ascending order, each once. Sets *count to their number. The caller frees the result. */
static uint64_t *distinct_starts(const struct open_lookups *lookups, size_t *count)
{
	uint64_t *s = mem_alloc(2 * sizeof(*s), lookups->table.n + 1);
	size_t n = 0, m = 0;

	for (size_t i = 0; i < lookups->table.n; i++) {
		uint64_t a = lookups->nearest[i], b = lookups->reach[i];

		if (lookups->first && a != NOWHERE && (n == 0 || s[n - 1] != a))
			s[n++] = a;
		if (b != NOWHERE && (!lookups->first || b != a) && (n == 0 || s[n - 1] != b))
			s[n++] = b;
	}
	qsort(s, n, sizeof(*s), by_value);
	for (size_t i = 0; i < n; i++)
		if (m == 0 || s[m - 1] != s[i])
			s[m++] = s[i];
	*count = m;
	return s;
}

/* Returns true if the chosen symbol of the group contains offset `at`, otherwise false. nearest: true if no other
 * symbol starts between the start of the group and `at`, so that a symbol without size contains `at`, too. */
static bool symtab_reaches(const struct open_lookups *lookups, const struct group *group, uint64_t at, bool nearest)
{
	uint64_t start = group->best.symbol.start;

	if (!group->best.is)
		return false;
	if (group->best.symbol.size)
		return at - start < group->best.symbol.size;
	if (start == lookups->last) /* as in perf, the last symbol extends to the end of its page, plus one page */
		return at < ((start + 4095) & ~(uint64_t)4095) + 4096;
	return nearest;
}

static struct group *group_at(struct choice *choice, uint64_t start)
{
	return start == NOWHERE ? NULL : &choice->group[offsets_from(&choice->starts, start)];
}

/* Returns the group whose symbol contains requested offset i. Otherwise returns NULL and sets *below to the start below
 * which the next round searches, or to 0 if no symbol is left. */
static struct group *symtab_reaching(struct work *work, struct choice *choice, size_t i, uint64_t *below)
{
	struct open_lookups *lookups = &work->open;
	struct group *near = lookups->first ? group_at(choice, lookups->nearest[i]) : NULL,
		     *group = group_at(choice, lookups->reach[i]);

	if (near && symtab_reaches(lookups, near, work->at[i], true))
		return near;
	if (group && symtab_reaches(lookups, group, work->at[i], false))
		return group;
	*below = group ? lookups->reach[i] : 0;
	return NULL;
}

/* Sets the results of requested offsets that a chosen symbol contains. Removes these offsets, and offsets without
 * further candidates, from the search. */
static void symtab_settle(struct work *work)
{
	struct choice choice = { .search = work->search };
	size_t n, left = 0;
	uint64_t *starts = distinct_starts(&work->open, &n), below = 0;

	offsets_index(&choice.starts, starts, n);
	choice.group = mem_alloc(sizeof(*choice.group), n + 1);
	choice.strings = mem_alloc(sizeof(*choice.strings), work->search->n_tables + 1);
	if (n)
		stream_all(work->search, symtab_choose, &choice);
	for (size_t i = 0; i < work->n; i++) {
		struct group *group = symtab_reaching(work, &choice, i, &below);

		if (group) {
			*work->answer[i] = (struct symtab_answer){ group->best.symbol.start, group_name(&choice, group),
								   group->ifunc };
		} else if (below) {
			work->at[left] = work->at[i];
			work->answer[left] = work->answer[i];
			work->open.below[left++] = below;
		}
	}
	work->n = left;
	for (size_t t = 0; t < work->search->n_tables; t++)
		free((char *)(uintptr_t)choice.strings[t].all.p);
	free(choice.strings);
	free(choice.starts.first);
	free(choice.group);
	free(starts);
	arena_free(&choice.arena);
}

static void one_round(struct work *work, bool first)
{
	struct open_lookups *lookups = &work->open;

	offsets_index(&lookups->table, work->at, work->n);
	for (size_t i = 0; i < work->n; i++) {
		lookups->nearest[i] = lookups->reach[i] = NOWHERE;
		if (first)
			lookups->below[i] = NOWHERE;
	}
	if (first)
		lookups->last = NOWHERE;
	lookups->first = first;
	stream_all(work->search, note_starts, lookups);
	carry_nearest(lookups);
	free(lookups->table.first);
	symtab_settle(work);
}

void symtab_resolve(struct symtab_search *search, const uint64_t *at, size_t n, struct symtab_answer *answer)
{
	struct work work = { .search = search, .n = n };
	uint64_t *space = mem_alloc(4 * sizeof(*space), n + 1);

	work.at = space;
	work.open.nearest = space + n;
	work.open.reach = space + 2 * n;
	work.open.below = space + 3 * n;
	work.answer = mem_alloc(sizeof(*work.answer), n + 1);
	for (size_t i = 0; i < n; i++) {
		work.at[i] = at[i];
		work.answer[i] = &answer[i];
	}
	for (int round = 0; round < ROUNDS && work.n; round++)
		one_round(&work, round == 0);
	free(work.answer);
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
