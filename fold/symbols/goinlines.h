/* SPDX-License-Identifier: Apache-2.0 */
/*
 * goinlines.h - looks up inlined calls of Go programs without debug information, in the tables of Go's runtime.
 *
 * pctab has, for each address of a function, the index of the innermost inlined call or -1. The inline tree of the
 * function, in read-only data at an offset from go.func.*, has for each call the name of the called function and an
 * address of the call's position: pctab's index at that address is the call that contains it. The address of go.func.*
 * is in the moduledata (gomodule.c). All bytes are hostile: a call that is damaged, or whose outer call has no smaller
 * index, gives no inlined calls at this address, and a reason. The steps of all lookups are bounded.
 */
#ifndef PJ_GOINLINES_H
#define PJ_GOINLINES_H

#include "fold/symbols/symbols.h"

struct elffile;

/* Sets query[i].inlined, for i < n, to the id of the names of the inlined calls at file offset query[i].address,
 * outermost first, separated by NUL; leaves query[i].inlined unchanged for an offset outside of Go functions. elffile:
 * the mapped file. Returns false if the file has no usable table. Otherwise returns true, and sets *why to NULL, or to
 * the reason if calls may be missing. */
bool goinlines_resolve(const struct elffile *elffile, struct symbols_query *query, size_t n, struct intern *names,
		       const char **why);

#endif
