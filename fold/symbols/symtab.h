/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symtab.h - finds the symbols at file offsets in the symbol tables of a file, with the choices of perf.
 *
 * Nothing is sorted, and only symbols near a requested offset are stored. A table is streamed twice: to find the start
 * of the nearest symbols before each offset, and to choose among those that start there; again only if the chosen one,
 * of overlapping symbols, does not reach the offset.
 */
#ifndef PJ_SYMTAB_H
#define PJ_SYMTAB_H

#include "fold/symbols/elffile.h"
#include "common/intern.h"
#include "common/text.h"

struct symtab {
	const struct elffile *file;
	const struct elf_section *table;
};

struct symtab_answer {
	uint64_t start; /* file offset of the symbol */
	uint32_t name;  /* 0: no symbol */
	bool ifunc;     /* an indirect function also starts there */
};

struct symtab_search {
	const struct symtab *tables; /* of equal symbols the first table wins */
	size_t n_tables;
	const struct elffile *runtime; /* its segments relate addresses to offsets; NULL: offsets are addresses */
	bool mangled;
	struct intern *names;
	bool any;         /* result: the tables have a usable symbol */
	uint64_t spent;   /* bytes of names so far */
	struct text text; /* buffer */
};

/* Returns true if n more bytes of names may be used. A few strings that share their ends could give gigabytes of names,
 * so the sum is limited by the size of the string tables. */
bool symtab_spend(struct symtab_search *search, size_t n);

/* Finds the symbols at file offsets at[0..n), ascending and distinct. */
void symtab_resolve(struct symtab_search *search, const uint64_t *at, size_t n, struct symtab_answer *answer);

/* Returns the address of a symbol by its name; false if there is none, or its table is too large. */
bool symtab_find(const struct symtab *tab, struct str name, uint64_t *address);

/* Appends a name of a string table to out; nothing if the offset is invalid. */
void symtab_string(struct text *out, const struct elffile *elffile, const struct elf_section *table, uint32_t name);

#endif
