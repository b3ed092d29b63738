/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gomodule.c - finds the moduledata of a Go program without symbols.
 *
 * moduledata begins with the address of .gopclntab. A word in a data section contains that address, or, in a
 * position-independent program, a relocation writes it. Several words can be equal to that address. So a structure is
 * accepted as moduledata only if its addresses and sizes of all parts of .gopclntab are equal to those in the header of
 * .gopclntab. Source of the layouts: moduledata in src/runtime/symtab.go, Go 1.18 to 1.27.
 */
#include "common/formats/gotable.h"

#include <stdlib.h>

/* limit for the bytes of data and relocations that are read in total; beyond it no moduledata is found */
#define SEARCH_MAX ((uint64_t)128 << 20)
enum {
	CANDIDATES = 4, /* limit for the structures that are checked; further ones are not accepted */
	WORDS = 48,     /* number of words of a structure that are read */
	BLOCK = 4096,   /* number of words, or of relocations, that are read at a time */
	/* limit for the number of text sections of a program; a structure with more is not accepted */
	SECTIONS_MAX = 4096,
};

/* Relocation types R_X86_64_RELATIVE and R_AARCH64_RELATIVE. */
enum { RELATIVE_X86 = 8, RELATIVE_ARM = 1027 };

/* Indices of words in moduledata. Slices have three words: address, length, capacity. */
enum {
	HEADER,
	NAMES = 1,
	UNITS = 4,
	FILES = 7,
	VALUES = 10,
	TABLE = 13,
	FUNCTIONS = 16,
	FIRST = 20,
	LAST,
	TEXT,
	TEXT_END,
};

/* Layouts of moduledata in Go 1.18, 1.20, 1.26 and 1.27, in this order. gofunc: index of the word with the address of
 * go.func.*, before the slice of text sections. since_20: .gopclntab has the layout of Go 1.20. in_table: go.func.* is
 * in .gopclntab, whose end is the word between gofunc and the slice. */
static const struct layout {
	size_t gofunc;
	bool since_20, in_table;
} layouts[] = { { 38, false, false }, { 40, true, false }, { 40, true, true }, { 43, true, true } };

struct gomodule {
	struct gotable *gotable;
	unsigned candidates; /* number of structures that were checked */
	uint64_t left;       /* number of bytes that may still be read */
	uint64_t word[WORDS];
};

/* ---- proof of a moduledata --------------------------------------------------------------------------------------- */

/* Returns true if words i to i + 2 are a slice at this offset of .gopclntab with at most max elements. */
static bool gomodule_is_slice(const struct gomodule *module, size_t i, uint64_t offset, uint64_t max)
{
	const uint64_t *word = &module->word[i];

	return word[0] == module->gotable->address + offset && word[1] == word[2] && word[1] <= max;
}

/* Returns true if the words (module->word) are the moduledata of this .gopclntab: if all addresses and sizes of its
 * parts match. */
static bool gomodule_is_proven(const struct gomodule *module)
{
	const struct gotable *gotable = module->gotable;
	const uint64_t *word = module->word;
	uint64_t start = gotable_number(gotable, gotable->table, 4);

	return word[HEADER] == gotable->address && (!gotable->text || gotable->text == word[TEXT]) &&
	       gomodule_is_slice(module, NAMES, gotable->names, gotable->units - gotable->names) &&
	       gomodule_is_slice(module, UNITS, gotable->units, gotable->files - gotable->units) &&
	       gomodule_is_slice(module, FILES, gotable->files, gotable->values - gotable->files) &&
	       gomodule_is_slice(module, VALUES, gotable->values, gotable->table - gotable->values) &&
	       gomodule_is_slice(module, TABLE, gotable->table, gotable->size - gotable->table) &&
	       gomodule_is_slice(module, FUNCTIONS, gotable->table, gotable->functions + 1) &&
	       word[FUNCTIONS + 1] == gotable->functions + 1 && word[TEXT] && word[FIRST] == word[TEXT] + start &&
	       word[FIRST] < word[LAST] && word[LAST] <= word[TEXT_END];
}

/* Returns true if words of moduledata have this layout: the start of read-only data precedes go.func.*, and the slice
 * of text sections after it is plausible (one element in most programs). */
static bool gomodule_has_layout(const struct gomodule *module, const struct layout *layout)
{
	const struct gotable *gotable = module->gotable;
	const uint64_t *word = &module->word[layout->gofunc], *slice = word + 1 + layout->in_table;
	uint64_t offset;

	if (layout->since_20 != gotable->since_20 || word[-1] > word[0] || !slice[0] || slice[1] != slice[2] ||
	    !slice[1] || slice[1] > SECTIONS_MAX)
		return false;
	if (layout->in_table)
		return word[0] >= gotable->address && word[0] <= word[1] && word[1] - gotable->address <= gotable->size;
	return gotable_offset(gotable, word[0], &offset);
}

/* Returns the address of go.func.* in words of moduledata; 0 if the words have no known layout. */
static uint64_t gomodule_gofunc(const struct gomodule *module)
{
	for (size_t i = 0; i < countof(layouts); i++)
		if (gomodule_has_layout(module, &layouts[i]))
			return module->word[layouts[i].gofunc];
	return 0;
}

/* ---- reading words and relocations of the program --------------------------------------------------------------- */

/* Subtracts `bytes` from the number of bytes that may still be read (module->left). Returns false if fewer bytes are
 * left. */
static bool gomodule_spend(struct gomodule *module, uint64_t bytes)
{
	if (bytes > module->left)
		return false;
	module->left -= bytes;
	return true;
}

/* Reads up to BLOCK elements of `element` bytes each from a section into block, from element number `done` on. Returns
 * the number of elements read; 0 at the end of the section, if the section cannot be read, or if the limit for bytes is
 * reached. */
static size_t gomodule_read(struct gomodule *module, const Elf64_Shdr *section, uint64_t done, void *block,
			    size_t element)
{
	uint64_t left = section->sh_size / element - done;
	size_t want = left < BLOCK ? (size_t)left : BLOCK;
	size_t got = elfhead_bytes(module->gotable->head, section->sh_offset + done * element, block, want * element) /
		     element;

	return gomodule_spend(module, got * element) ? got : 0;
}

/* Callback for a relocation that writes the address `value` to the address `at`. with: argument of the search for the
 * callback. Returns true to end the search. */
typedef bool each_relocation(struct gomodule *module, uint64_t at, uint64_t value, void *with);

static bool gomodule_relocations(struct gomodule *module, const Elf64_Shdr *section, each_relocation *each, void *with)
{
	Elf64_Rela *block = mem_alloc(sizeof(*block), BLOCK);
	bool found = false;
	size_t got;

	for (uint64_t done = 0; !found && (got = gomodule_read(module, section, done, block, sizeof(*block))) > 0;
	     done += got)
		for (size_t i = 0; i < got && !found; i++) {
			uint64_t type = ELF64_R_TYPE(block[i].r_info);

			if (type == RELATIVE_X86 || type == RELATIVE_ARM)
				found = each(module, block[i].r_offset, (uint64_t)block[i].r_addend, with);
		}
	free(block);
	return found;
}

/* Calls each(), with the argument `with`, for every relocation of the program, until it returns true. Returns true if
 * each() returned true. */
static bool gomodule_all_relocations(struct gomodule *module, each_relocation *each, void *with)
{
	const struct elfhead *head = module->gotable->head;
	bool found = false;

	for (size_t i = 1; i < head->sections && !found; i++)
		if (head->section[i].sh_type == SHT_RELA && head->section[i].sh_flags & SHF_ALLOC)
			found = gomodule_relocations(module, &head->section[i], each, with);
	return found;
}

/* Callback: writes the value of a relocation to module->word if the relocation is within these words. *with: address of
 * the words in the program. Returns false, so that the search goes on. */
static bool gomodule_relocate(struct gomodule *module, uint64_t at, uint64_t value, void *with)
{
	uint64_t offset = at - *(const uint64_t *)with;

	if (offset < sizeof(module->word) && offset % sizeof(*module->word) == 0)
		module->word[offset / sizeof(*module->word)] = value;
	return false;
}

/* Reads WORDS words at an address and applies relocations to them. Returns true if these words are the moduledata. */
static bool gomodule_try(struct gomodule *module, uint64_t address)
{
	uint64_t offset;

	if (++module->candidates > CANDIDATES || !gotable_offset(module->gotable, address, &offset) ||
	    elfhead_bytes(module->gotable->head, offset, module->word, sizeof(module->word)) < sizeof(module->word))
		return false;
	gomodule_all_relocations(module, gomodule_relocate, &address);
	return gomodule_is_proven(module);
}

/* ---- search for the moduledata ----------------------------------------------------------------------------------- */

/* Returns true if the relocation writes the address of .gopclntab to the start of the moduledata. */
static bool gomodule_try_relocation(struct gomodule *module, uint64_t at, uint64_t value, void *with)
{
	(void)with;
	return value == module->gotable->address && gomodule_try(module, at);
}

/* Searches a section for a word with the address of .gopclntab at the start of the moduledata. */
static bool gomodule_in_section(struct gomodule *module, const Elf64_Shdr *section)
{
	uint64_t *block = mem_alloc(sizeof(*block), BLOCK);
	bool found = false;
	size_t got;

	for (uint64_t done = 0; !found && (got = gomodule_read(module, section, done, block, sizeof(*block))) > 0;
	     done += got)
		for (size_t i = 0; i < got && !found; i++)
			found = block[i] == module->gotable->address &&
				gomodule_try(module, section->sh_addr + (done + i) * sizeof(*block));
	free(block);
	return found;
}

/* Searches the writable data sections of the program, and section .go.module of Go 1.26. */
static bool gomodule_in_data(struct gomodule *module)
{
	const struct elfhead *head = module->gotable->head;
	bool found = false;

	for (size_t i = 1; i < head->sections && !found; i++) {
		const Elf64_Shdr *section = &head->section[i];

		if (section->sh_type == SHT_PROGBITS && section->sh_addr != module->gotable->address &&
		    section->sh_flags & SHF_ALLOC && !(section->sh_flags & SHF_COMPRESSED) &&
		    (section->sh_flags & SHF_WRITE || str_ends(head->name[i], STR(".go.module"))))
			found = gomodule_in_section(module, section);
	}
	return found;
}

bool gotable_find_module(struct gotable *gotable)
{
	struct gomodule module = { .gotable = gotable, .left = SEARCH_MAX };

	if (!gomodule_in_data(&module) && !gomodule_all_relocations(&module, gomodule_try_relocation, NULL))
		return false;
	gotable->text = module.word[TEXT];
	gotable->gofunc = gomodule_gofunc(&module);
	gotable->size = gotable->table + module.word[TABLE + 1];
	return true;
}
