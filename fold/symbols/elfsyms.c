/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/elfsyms.h"

#include "fold/symbols/dwarfimage.h"
#include "fold/symbols/goinlines.h"
#include "fold/symbols/gosyms.h"
#include "fold/symbols/inlines.h"
#include "fold/symbols/minidebug.h"
#include "fold/symbols/plt.h"
#include "fold/symbols/symtab.h"
#include "common/text.h"

#include <elf.h>
#include <stdlib.h>
#include <unistd.h>

#define NOTES_MAX (1u << 20)
#define LINK_MAX 4096
#define DEBUGDATA_MAX (64u << 20)

struct elfsyms {
	struct elfsyms_options options;
	struct elffile file;
	struct build_id build_id;
	struct str debuglink;
	uint32_t debuglink_crc;
	/* symbol tables in order of precedence: .symtab, or else the .symtab in .gnu_debugdata; then .dynsym */
	struct symtab table[3];
	size_t tables;
	const struct elf_section *symtab, *dynsym;
	struct elffile mini;
	struct text mini_image;
	bool mini_tried;
};

/* ---- build-id and .gnu_debuglink ------------------------------------------------------------------------------- */

static uint32_t elfsyms_u32_at(struct str string, size_t i)
{
	uint32_t value;

	memcpy(&value, string.p + i, sizeof(value));
	return value;
}

static struct build_id find_build_id(struct elffile *elffile)
{
	struct build_id id = { 0 };

	for (size_t i = 1; i < elffile->sections && !id.n; i++)
		if (elffile->section[i].type == SHT_NOTE)
			id = buildid_in_notes(elffile_bytes(elffile, &elffile->section[i], NOTES_MAX));
	return id;
}

static void read_debuglink(struct elfsyms *elfsyms)
{
	struct str string =
		elffile_bytes(&elfsyms->file, elffile_section(&elfsyms->file, STR(".gnu_debuglink")), LINK_MAX);
	const char *end = string.n ? memchr(string.p, 0, string.n) : NULL;

	if (!end)
		return;
	elfsyms->debuglink = str_head(string, (size_t)(end - string.p));
	if (((elfsyms->debuglink.n + 4) & ~(size_t)3) + 4 <= string.n)
		elfsyms->debuglink_crc = elfsyms_u32_at(string, (elfsyms->debuglink.n + 4) & ~(size_t)3);
}

static const struct elf_section *table_named(const struct elffile *elffile, struct str name, uint32_t type)
{
	const struct elf_section *section = elffile_section(elffile, name);

	return section && section->type == type ? section : NULL;
}

/* ---- opening of a file ------------------------------------------------------------------------------------------ */

struct elfsyms *elfsyms_open(int fd, const struct elfsyms_options *options, const char **why)
{
	struct elfsyms *elfsyms = mem_alloc(sizeof(*elfsyms), 1);

	elfsyms->options = *options;
	elfsyms->mini.fd = -1;
	*why = elffile_open(&elfsyms->file, fd);
	if (*why) {
		elfsyms_close(elfsyms);
		return NULL;
	}
	elfsyms->build_id = find_build_id(&elfsyms->file);
	read_debuglink(elfsyms);
	elfsyms->symtab = table_named(&elfsyms->file, STR(".symtab"), SHT_SYMTAB);
	elfsyms->dynsym = table_named(&elfsyms->file, STR(".dynsym"), SHT_DYNSYM);
	return elfsyms;
}

void elfsyms_close(struct elfsyms *elfsyms)
{
	int fd = elfsyms->file.fd;

	elffile_close(&elfsyms->mini);
	text_free(&elfsyms->mini_image);
	elffile_close(&elfsyms->file);
	close(fd);
	free(elfsyms);
}

struct build_id elfsyms_file_build_id(int fd)
{
	struct elffile elffile;
	struct build_id id = { 0 };

	if (!elffile_open(&elffile, fd))
		id = find_build_id(&elffile);
	elffile_close(&elffile);
	return id;
}

struct build_id elfsyms_build_id(const struct elfsyms *elfsyms)
{
	return elfsyms->build_id;
}

bool elfsyms_has_symtab(const struct elfsyms *elfsyms)
{
	return elfsyms->symtab;
}

bool elfsyms_has_dynsym(const struct elfsyms *elfsyms)
{
	return elfsyms->dynsym;
}

struct str elfsyms_debuglink(const struct elfsyms *elfsyms)
{
	return elfsyms->debuglink;
}

uint32_t elfsyms_debuglink_crc(const struct elfsyms *elfsyms)
{
	return elfsyms->debuglink_crc;
}

/* Returns the .symtab in .gnu_debugdata, which Fedora's packages contain when their files are stripped; NULL if there
 * is none. */
static const struct elf_section *minidebug_table(struct elfsyms *elfsyms)
{
	struct str packed;

	if (!elfsyms->mini_tried) {
		elfsyms->mini_tried = true;
		packed = elffile_bytes(&elfsyms->file, elffile_section(&elfsyms->file, STR(".gnu_debugdata")),
				       DEBUGDATA_MAX);
		if (packed.n == 0 || !minidebug_unpack(&elfsyms->mini_image, packed))
			return NULL;
		if (elffile_open_image(&elfsyms->mini, text_view(&elfsyms->mini_image)))
			elffile_close(&elfsyms->mini);
	}
	return table_named(&elfsyms->mini, STR(".symtab"), SHT_SYMTAB);
}

static void gather_tables(struct elfsyms *elfsyms)
{
	const struct elf_section *mini = NULL;

	elfsyms->tables = 0;
	if (!elfsyms->symtab && !elfsyms->options.as_perf)
		mini = minidebug_table(elfsyms);
	if (elfsyms->symtab)
		elfsyms->table[elfsyms->tables++] = (struct symtab){ &elfsyms->file, elfsyms->symtab };
	if (mini)
		elfsyms->table[elfsyms->tables++] = (struct symtab){ &elfsyms->mini, mini };
	if (elfsyms->dynsym)
		elfsyms->table[elfsyms->tables++] = (struct symtab){ &elfsyms->file, elfsyms->dynsym };
}

/* ---- lookups of symbols ----------------------------------------------------------------------------------------- */

/* Returns the id of the name of the indirect function (STT_GNU_IFUNC) at an address, or 0. */
static uint32_t ifunc_name(struct symtab_search *search, uint64_t address)
{
	struct symtab_answer answer = { 0 };
	uint64_t place;

	if (!elffile_offset(search->runtime, address, &place))
		return 0;
	symtab_resolve(search, &place, 1, &answer);
	return answer.ifunc && answer.start == place ? answer.name : 0;
}

static uint32_t stub_name(struct symtab_search *search, const struct plt_stub *stub)
{
	struct text text = { 0 };
	uint32_t ifunc, name;

	switch (stub->kind) {
	case PLT_HEAD: return intern(search->names, STR(".plt"));
	case PLT_SYMBOL:
		if (!symtab_spend(search, stub->name.n))
			return 0;
		if (search->mangled || !elfsyms_demangle(&text, stub->name))
			text_str(&text, stub->name);
		break;
	case PLT_IFUNC:
		ifunc = ifunc_name(search, stub->address);
		if (ifunc) {
			text_str(&text, intern_str(search->names, ifunc));
			break;
		}
		/* fall through */
	default: text_printf(&text, "offset_%#llx", (unsigned long long)stub->start);
	}
	text_add(&text, "@plt");
	name = intern(search->names, text_view(&text));
	text_free(&text);
	return name;
}

/* Returns true if a symbol with this start lies before .plt and address `at` is after .plt: a symbol without size, like
 * _init, then only seems to extend over the stubs, and does not name `at`. Otherwise returns false; with as_perf also
 * if there are at most 8 stubs, since perf 6.1 then uses the symbol. */
static bool ends_before_stubs(const struct plt *plt, uint64_t at, uint64_t start)
{
	return start < plt->lazy.start && at >= plt->lazy.end && (!plt->as_perf || plt->slots > 8);
}

/* Names those of the addresses at[0..n) that are in PLT stubs, which have no symbols. A symbol without size before the
 * stubs seems to extend over the stubs: the address is named after the symbol or the stub, whichever starts nearer to
 * it. */
static void resolve_stubs(struct symtab_search *search, struct elffile *runtime, bool as_perf, const uint64_t *at,
			  size_t n, struct symtab_answer *answer)
{
	struct plt plt;
	struct plt_stub last = { 0 };
	uint32_t name = 0;

	plt_open(&plt, runtime, as_perf);
	for (size_t i = 0; i < n; i++) {
		struct plt_stub stub = plt_at(&plt, at[i]);

		if (ends_before_stubs(&plt, at[i], answer[i].start))
			answer[i].name = 0;
		if (stub.kind == PLT_NONE || (answer[i].name && answer[i].start >= stub.start))
			continue;
		if (!name || stub.start != last.start)
			name = stub_name(search, &stub);
		last = stub;
		answer[i] = (struct symtab_answer){ .start = stub.start, .name = name };
	}
	plt_close(&plt);
}

/* Names addresses at[0..n) in Go code by Go's own table. Does nothing if the file has a table of all symbols, or with
 * as_perf. .dynsym has few Go functions, and sizes that differ from Go's, so Go's names replace names from .dynsym. */
static void resolve_go(struct elfsyms *elfsyms, struct symtab_search *search, const uint64_t *at, size_t n,
		       struct symtab_answer *answer)
{
	struct gosyms gosyms;

	if (elfsyms->options.as_perf || elfsyms->symtab || elfsyms->mini.sections)
		return;
	if (gosyms_open(&gosyms, &elfsyms->file))
		gosyms_resolve(&gosyms, search, at, n, answer);
}

/* Copies the addresses of those of query[0..n) that have no name to `at`, and their indices in `query` to `index`.
 * Returns the number of copied addresses. */
static size_t elfsyms_gather(const struct symbols_query *query, size_t n, uint64_t *at, size_t *index)
{
	size_t open = 0;

	for (size_t i = 0; i < n; i++) {
		if (query[i].name)
			continue;
		at[open] = query[i].address;
		index[open++] = i;
	}
	return open;
}

/* Looks up those of query[0..n) that have no name yet. runtime: the mapped file, if queries are file offsets; NULL:
 * queries are virtual addresses, `moved` bytes above the addresses in the file. Returns the number of new names. */
static size_t elfsyms_resolve_query(struct elfsyms *elfsyms, struct elffile *runtime, uint64_t moved,
				    struct symbols_query *query, size_t n, struct intern *names)
{
	uint64_t *at = mem_alloc(sizeof(*at), n + 1);
	size_t *index = mem_alloc(sizeof(*index), n + 1), open = elfsyms_gather(query, n, at, index), answered = 0;
	struct symtab_answer *answer = mem_alloc(sizeof(*answer), open + 1);
	struct symtab_search search = {
		.tables = elfsyms->table, .runtime = runtime, .mangled = elfsyms->options.mangled, .names = names
	};

	for (size_t i = 0; i < open; i++)
		at[i] -= moved;
	gather_tables(elfsyms);
	search.n_tables = elfsyms->tables;
	symtab_resolve(&search, at, open, answer);
	if (runtime)
		resolve_go(elfsyms, &search, at, open, answer);
	if (runtime &&
	    (search.any || !elfsyms->options.as_perf)) /* perf 6.1 names stubs only of files with a usable symbol */
		resolve_stubs(&search, runtime, elfsyms->options.as_perf, at, open, answer);
	for (size_t i = 0; i < open; i++) {
		uint64_t offset = at[i] - answer[i].start;

		if (!answer[i].name)
			continue;
		query[index[i]].name = answer[i].name;
		query[index[i]].offset = offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX;
		answered++;
	}
	text_free(&search.text);
	free(answer);
	free(index);
	free(at);
	return answered;
}

size_t elfsyms_resolve(struct elfsyms *elfsyms, const struct elfsyms *runtime, struct symbols_query *query, size_t n,
		       struct intern *names)
{
	return elfsyms_resolve_query(elfsyms, &((struct elfsyms *)(uintptr_t)runtime)->file, 0, query, n,
				     names); /* casts const away: reading a section changes the file's cache */
}

size_t elfsyms_resolve_addresses(struct elfsyms *elfsyms, uint64_t moved, struct symbols_query *query, size_t n,
				 struct intern *names)
{
	/* number of addresses below `moved`: for these, address - moved wraps around, so they are looked up
	 * separately */
	size_t wraps = 0;

	while (wraps < n && query[wraps].address < moved)
		wraps++;
	return elfsyms_resolve_query(elfsyms, NULL, moved, query, wraps, names) +
	       elfsyms_resolve_query(elfsyms, NULL, moved, query + wraps, n - wraps, names);
}

bool elfsyms_address(const struct elfsyms *elfsyms, struct str name, uint64_t *address)
{
	struct symtab tab = { &elfsyms->file, elfsyms->symtab };

	return elfsyms->symtab && symtab_find(&tab, name, address);
}

bool elfsyms_has_debug_info(const struct elfsyms *elfsyms)
{
	return dwarfimage_has(&elfsyms->file, false);
}

const char *elfsyms_inlines(struct elfsyms *elfsyms, const struct elfsyms *runtime,
			    const struct inlines_options *options, struct symbols_query *query, size_t n,
			    struct intern *names)
{
	return inlines_resolve(options, &elfsyms->file, &runtime->file, query, n, names);
}

bool elfsyms_go_inlines(const struct elfsyms *elfsyms, struct symbols_query *query, size_t n, struct intern *names,
			const char **why)
{
	return goinlines_resolve(&elfsyms->file, query, n, names, why);
}
