/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symtab.h - which symbol of the tables of a file is at these places? The choice is perf's.
 *
 * Nothing is sorted, and nothing is kept of a symbol that is not near a place that was asked for. A table is streamed
 * twice: to find where the nearest symbols before each place start, and to choose among those that start there; again
 * only where the chosen one, of symbols that overlap, does not reach the place.
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
	uint64_t start; /* place of the symbol */
	uint32_t name;  /* 0: no symbol */
	bool ifunc;     /* an indirect function starts there, too */
};

struct symtab_search {
	const struct symtab *tables; /* in order: of equals the first wins */
	size_t n_tables;
	const struct elffile *runtime; /* its segments relate addresses to places; NULL: places are addresses */
	bool mangled;
	struct intern *names;
	bool any;         /* told by symtab_resolve: the tables hold a symbol of use */
	uint64_t spent;   /* bytes of names that were taken so far */
	struct text text; /* scratch */
};

/* May n bytes more be spent on names? A few strings that lie in each other, as ends of one, could be gigabytes of
 * names: what is taken is limited by the size of the tables that it is taken from. */
bool symtab_spend(struct symtab_search *search, size_t n);

/* at: places in the file, ascending, distinct. */
void symtab_resolve(struct symtab_search *search, const uint64_t *at, size_t n, struct symtab_answer *answer);

/* The address of a symbol by its name; false when there is none, or its table is too large. */
bool symtab_find(const struct symtab *tab, struct str name, uint64_t *address);

/* The name in a string table; empty when there is none there. Appends to out. */
void symtab_string(struct text *out, const struct elffile *elffile, const struct elf_section *table, uint32_t name);

#endif
