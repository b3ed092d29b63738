/* SPDX-License-Identifier: Apache-2.0 */
/*
 * goinlines.h - looks up inlined calls of Go programs without debug information, in the tables of Go's runtime.
 *
 * pctab has, for each address of a function, the index of the innermost inlined call or -1. The inline tree of the
 * function, in read-only data at an offset from go.func.*, has for each call the name of the called function and an
 * address of the call's position: the index at that address is the call that contains it. So the lookup needs the
 * moduledata (gomodule.c). All bytes are hostile: a call that is damaged, or whose outer call has no smaller index,
 * gives no inlined calls at this address, and a reason; the steps of all lookups are bounded.
 */
#ifndef PJ_GOINLINES_H
#define PJ_GOINLINES_H

#include "fold/symbols/symbols.h"

struct elffile;

/* Sets query[i].inlined as inlines_resolve (inlines.h) does. elffile: the mapped file. Returns false if it has no table
 * that can be used; else sets *why to NULL, or to the reason if calls may be missing. */
bool goinlines_resolve(const struct elffile *elffile, struct symbols_query *query, size_t n, struct intern *names,
		       const char **why);

#endif
