/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dies.h - reads DIEs (debugging information entries): visits those of a unit in order, and makes the names of the
 * functions to which they refer.
 *
 * Debug information is hostile: the nesting of DIEs and the number of steps are bounded, and damaged data end a walk
 * with a reason. The walk has no recursion. A function without linkage name, such as a static function compiled by gcc,
 * gets its namespaces and classes from the scopes that contain it; the scopes of a unit are read once, and the name of
 * each function is made once. This header is empty in a build without libdw.
 */
#ifndef PJ_DIES_H
#define PJ_DIES_H

#include "common/base.h"

#ifdef PJ_LIBDW

#include "common/intern.h"
#include "common/text.h"

#include <elfutils/libdw.h>

/* ---- walk over DIEs ---------------------------------------------------------------------------------------------- */

/* Budget and result of a lookup, which may have several walks. */
struct diewalk {
	/* work: number of steps so far; max: its limit, above which the lookup ends with a reason */
	uint64_t work, max;
	const char *why; /* first reason for an incomplete result; NULL: none */
};

/* Context of a DIE. function: number of the function that contains the DIE, 0: none; while scopes are collected, index
 * of the scope instead. call: index of the innermost inlined call that contains the DIE; 0: none. */
struct diewalk_within {
	uint32_t function, call;
};

/* Callbacks of a walk over DIEs. visit returns true if the walk is to visit the children of die, with the context
 * *inner. left is called after the children; the next DIE begins at end (NULL: there is none). */
struct diewalk_visitor {
	bool (*visit)(void *with, Dwarf_Die *die, int tag, struct diewalk_within outer, struct diewalk_within *inner);
	void (*left)(void *with, struct diewalk_within inner, const char *end);
};

/* Sets walk->why unless there is a reason already. Returns false. */
bool diewalk_give_up(struct diewalk *walk, const char *why);

/* Adds to the number of steps. Returns false if the limit walk->max is exceeded: the lookup then ends. */
bool diewalk_spend(struct diewalk *walk, uint64_t steps);

/* Visits the DIEs of a unit in order, each once. The children of a DIE are skipped if visit returns false. top: context
 * of the DIEs outside of functions; with: argument of the callbacks. */
void diewalk_visit(struct diewalk *walk, Dwarf_Die *unit, struct diewalk_within top,
		   const struct diewalk_visitor *visitor, void *with);

/* ---- names of functions ------------------------------------------------------------------------------------------ */

/* Maker of names. The caller sets walk, names and as_perf, and sets the other members to 0; dienames_free frees what
 * these contain. */
struct dienames {
	struct diewalk *walk;            /* budget of the lookup */
	struct intern *names;            /* the names that were made */
	bool as_perf;                    /* true: omit namespaces of functions without linkage name, as perf does */
	struct intern known;             /* addresses of the DIEs of visited functions and units */
	struct dienames_entry *known_as; /* results for each DIE in `known`; the index is the id of the DIE's address */
	size_t known_cap;
	/* scopes of the units that were read */
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
