/* SPDX-License-Identifier: Apache-2.0 */
#include "record/probes/elfsymbol.h"

#include "common/similar.h"

#include <string.h>

#define VERSION_HIDDEN 0x8000 /* bit of an entry of .gnu.version: the symbol is not the default version of its name */

struct search {
	const struct elfhead *elfhead;
	struct str name;
	struct similar similar;
	struct elfsymbol *symbol;
	bool any;      /* true if the symbol tables have at least one function that has a name */
	bool found;    /* true if the function was found; `address` is its address */
	bool global;   /* true if the found symbol is not local */
	bool large;    /* true if a table was too large to read */
	bool several;  /* true if another symbol of the same name and binding has another address */
	bool indirect; /* true if the found symbol is STT_GNU_IFUNC */
	uint64_t address;
};

/* Returns the name without its suffix "@@VERSION", which .symtab adds to names of the default version. */
static struct str without_version(struct str name)
{
	ptrdiff_t at = str_find_str(name, STR("@@"));

	return at > 0 ? str_head(name, (size_t)at) : name;
}

static void elfsymbol_take(struct search *search, const Elf64_Sym *symbol)
{
	bool global = symbol->st_info >> 4 != STB_LOCAL;

	if (search->found && search->global && !global)
		return;
	if (search->found && search->global == global) {
		search->several |= search->address != symbol->st_value;
		return;
	}
	search->found = true;
	search->several = false;
	search->global = global;
	search->address = symbol->st_value;
	search->indirect = (symbol->st_info & 15) == STT_GNU_IFUNC;
}

static void elfsymbol_offer(struct search *search, const Elf64_Sym *symbol, struct str strings)
{
	unsigned type = symbol->st_info & 15;
	struct str name;
	const char *end;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF ||
	    symbol->st_name >= strings.n)
		return;
	name = str_from(strings, symbol->st_name);
	/* limits the search for the NUL: a table may have millions of symbols that share one name of many MB */
	if (name.n > ELFSYMBOL_NAME_MAX)
		name.n = ELFSYMBOL_NAME_MAX;
	end = memchr(name.p, 0, name.n);
	if (!end || end == name.p)
		return;
	name = without_version(str_head(name, (size_t)(end - name.p)));
	search->any = true;
	if (str_eq(name, search->name))
		elfsymbol_take(search, symbol);
	else
		similar_offer(&search->similar, name);
}

/* Returns the entries of .gnu.version for a symbol table; empty if there are none. */
static struct str elfsymbol_versions(const struct elfhead *elfhead, size_t table, struct arena *arena)
{
	for (size_t i = 1; i < elfhead->sections; i++)
		if (elfhead->section[i].sh_type == SHT_GNU_versym && elfhead->section[i].sh_link == table)
			return elfhead_section(elfhead, &elfhead->section[i], arena, ELFSYMBOL_SECTION_MAX);
	return (struct str){ 0 };
}

static bool elfsymbol_hidden(struct str versions, size_t i)
{
	uint16_t version = 0;

	if (i < versions.n / sizeof(version))
		memcpy(&version, versions.p + i * sizeof(version), sizeof(version));
	return version & VERSION_HIDDEN;
}

static void search_table(struct search *search, size_t table)
{
	const struct elfhead *elfhead = search->elfhead;
	const Elf64_Shdr *section = &elfhead->section[table], *names;
	size_t step = elfhead_symbol_size(elfhead);
	struct arena arena = { 0 };
	struct str symbols, strings, versions;

	if (section->sh_link == 0 || section->sh_link >= elfhead->sections)
		return;
	names = &elfhead->section[section->sh_link];
	search->large |= section->sh_size > ELFSYMBOL_SECTION_MAX || names->sh_size > ELFSYMBOL_SECTION_MAX;
	symbols = elfhead_section(elfhead, section, &arena, ELFSYMBOL_SECTION_MAX);
	strings = elfhead_section(elfhead, names, &arena, ELFSYMBOL_SECTION_MAX);
	versions = elfsymbol_versions(elfhead, table, &arena);
	for (size_t i = 1; i < symbols.n / step; i++) {
		Elf64_Sym symbol = elfhead_symbol(symbols.p + i * step, elfhead->wide);

		if (!elfsymbol_hidden(versions, i))
			elfsymbol_offer(search, &symbol, strings);
	}
	for (size_t i = 0; i < search->similar.found.n && i < ELFSYMBOL_SIMILAR - 1; i++) {
		char byte = search->similar.found.p[i];

		search->symbol->similar[i] = (char)(byte > ' ' && byte < 127 ? byte : '?');
		search->symbol->similar[i + 1] = '\0';
	}
	search->similar = similar_to(search->name);
	arena_free(&arena);
}

/* Sets search->symbol->offset to the file offset of the found function. Returns false if its address is in no
 * executable segment, or if the offset is beyond the end of the file. */
static bool set_offset(const struct search *search)
{
	const Elf64_Phdr *segment = elfhead_segment(search->elfhead, search->address);

	if (!segment || !(segment->p_flags & PF_X) ||
	    __builtin_add_overflow(segment->p_offset, search->address - segment->p_vaddr, &search->symbol->offset))
		return false;
	return search->symbol->offset < search->elfhead->source.size;
}

enum elfsymbol_answer elfsymbol_find(const struct elfhead *elfhead, struct str name, struct elfsymbol *symbol)
{
	struct search search = { .elfhead = elfhead, .name = name, .similar = similar_to(name), .symbol = symbol };

	*symbol = (struct elfsymbol){ 0 };
	/* reads at most one .symtab and one .dynsym, as many as the gABI allows; a hostile file may have thousands */
	for (uint32_t type = SHT_SYMTAB; type; type = type == SHT_SYMTAB ? SHT_DYNSYM : 0)
		for (size_t i = 1; i < elfhead->sections && !search.found; i++)
			if (elfhead->section[i].sh_type == type) {
				search_table(&search, i);
				break;
			}
	if (!search.found)
		return search.large ? ELFSYMBOL_LARGE : search.any ? ELFSYMBOL_NONE : ELFSYMBOL_EMPTY;
	if (search.several)
		return ELFSYMBOL_SEVERAL;
	if (search.indirect)
		return ELFSYMBOL_INDIRECT;
	return set_offset(&search) ? ELFSYMBOL_FOUND : ELFSYMBOL_NO_CODE;
}
