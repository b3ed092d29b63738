/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symtab.h - finds the symbols at file offsets in the symbol tables of a file; chooses among aliases as perf does.
 *
 * Nothing is sorted, and only symbols near a requested offset are stored. The module streams a table twice: first to
 * find the start of the nearest symbols before each offset, then to choose among the symbols with this start. It
 * repeats both passes only if symbols overlap and the chosen symbol does not reach the offset.
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
	uint32_t name;  /* id of the demangled name; 0: no symbol */
	bool ifunc;     /* true if an indirect function (STT_GNU_IFUNC) also starts at `start` */
};

struct symtab_search {
	const struct symtab *tables; /* the first table has precedence among equal symbols */
	size_t n_tables;
	/* File whose segments map virtual addresses to file offsets; NULL: the requests are virtual addresses. */
	const struct elffile *runtime;
	bool mangled; /* true: names stay mangled, as in the file */
	struct intern *names;
	bool any;         /* result: true if the tables have a usable symbol */
	uint64_t spent;   /* bytes of all names made so far, limited by symtab_spend */
	struct text text; /* buffer for a name */
};

/* Adds n to the bytes of names made so far. Returns false if the sum exceeds a limit, a multiple of the size of the
 * string tables: a few strings that share their ends could otherwise give gigabytes of names. */
bool symtab_spend(struct symtab_search *search, size_t n);

/* Sets answer[i] to the symbol that contains file offset at[i], for i < n; leaves answer[i] unchanged if there is none.
 * Offsets must be distinct and ascending. */
void symtab_resolve(struct symtab_search *search, const uint64_t *at, size_t n, struct symtab_answer *answer);

/* Sets *address to the value (st_value) of the symbol with this name. Returns false if no symbol has the name, or if
 * the string table is too large. */
bool symtab_find(const struct symtab *tab, struct str name, uint64_t *address);

/* Appends a name of a string table to out; nothing if the offset is invalid. */
void symtab_string(struct text *out, const struct elffile *elffile, const struct elf_section *table, uint32_t name);

#endif
