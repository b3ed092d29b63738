/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diewalk.h - visits the DIEs (debugging information entries) of a unit in order, with a budget of steps.
 *
 * Debug information is hostile: the nesting of DIEs and the number of DIEs are bounded, and damaged data end the walk
 * with a reason. The walk has no recursion. Empty in a build without libdw.
 */
#ifndef PJ_DIEWALK_H
#define PJ_DIEWALK_H

#include "common/base.h"

#ifdef PJ_LIBDW

#include <elfutils/libdw.h>

/* Budget and result of a lookup, which may have several walks. */
struct diewalk {
	/* work: number of steps so far; max: its limit, above which the lookup ends with a reason */
	uint64_t work, max;
	const char *why; /* first reason for an incomplete result; NULL: none */
};

/* Context of a DIE. function: number of the function that contains the DIE; while scopes are collected, index of the
 * scope instead. call: index of the innermost inlined call that contains the DIE; 0: none. */
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

#endif

#endif
