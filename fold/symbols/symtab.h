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
	uint32_t name;  /* id of the demangled name; 0: no symbol */
	bool ifunc;     /* an indirect function (STT_GNU_IFUNC) also starts at `start` */
};

struct symtab_search {
	const struct symtab *tables; /* of equal symbols the first table wins */
	size_t n_tables;
	/* file whose segments relate addresses to offsets; NULL: requested offsets are addresses */
	const struct elffile *runtime;
	bool mangled;
	struct intern *names;
	bool any;         /* result: the tables have a usable symbol */
	uint64_t spent;   /* total size in bytes of the names made so far, see symtab_spend */
	struct text text; /* buffer for a name */
};

/* Counts n more bytes of names. Returns false if their sum exceeds a limit, a multiple of the size of the string
 * tables: a few strings that share their ends could give gigabytes of names. */
bool symtab_spend(struct symtab_search *search, size_t n);

/* Sets answer[i] to the symbol that contains file offset at[i], for n distinct, ascending offsets. */
void symtab_resolve(struct symtab_search *search, const uint64_t *at, size_t n, struct symtab_answer *answer);

/* Sets *address to the value of the symbol with this name. Returns false if there is none, or its string table is too
 * large. */
bool symtab_find(const struct symtab *tab, struct str name, uint64_t *address);

/* Appends a name of a string table to out; nothing if the offset is invalid. */
void symtab_string(struct text *out, const struct elffile *elffile, const struct elf_section *table, uint32_t name);

#endif
