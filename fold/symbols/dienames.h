/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dienames.h - makes the names of the functions to which DIEs refer, in the debug information of one file.
 *
 * A function without linkage name, such as a static function compiled by gcc, gets its namespaces and classes from the
 * scopes that contain it. The scopes of a unit are read once, and the name of each function is made once. Empty in a
 * build without libdw.
 */
#ifndef PJ_DIENAMES_H
#define PJ_DIENAMES_H

#include "fold/symbols/diewalk.h"

#ifdef PJ_LIBDW

#include "common/intern.h"
#include "common/text.h"

/* The caller sets walk, names and as_perf and zeroes the rest; dienames_free frees it. */
struct dienames {
	struct diewalk *walk;            /* budget of the lookup */
	struct intern *names;            /* the names that were made */
	bool as_perf;                    /* true: omit namespaces of functions without linkage name, as perf does */
	struct intern known;             /* addresses of the DIEs of visited functions and units */
	struct dienames_entry *known_as; /* results for each DIE in `known`; the index is the id of the DIE's address */
	size_t known_cap;
	struct dienames_scope *scope;
	uint32_t nscopes, scopes_cap;
	struct text text; /* the name that is being made */
};

/* Returns the id of the name of the function to which the DIE of an inlined call or function refers. The name of each
 * function is made once. */
uint32_t dienames_called(struct dienames *names, Dwarf_Die *call);

/* Returns the string of an attribute of a DIE; NULL if it has none, or an empty or overlong one. Valid as long as the
 * debug information. */
const char *dienames_string(Dwarf_Die *die, unsigned attribute);

/* Frees what dienames_called allocated. */
void dienames_free(struct dienames *names);

#endif

#endif
