/* SPDX-License-Identifier: Apache-2.0 */
/*
 * goinlines.h - looks up inlined calls of Go programs without debug information, in the tables of Go's runtime.
 *
 * pctab has, for each address of a function, the index of the innermost inlined call or -1. The inline tree of the
 * function, in read-only data at an offset from go.func.*, has for each call the name of the called function and the
 * offset of an instruction of the caller: pctab's index at this offset is that of the outer call. The address of
 * go.func.* is in the moduledata (gomodule.c). All bytes are hostile: if a call is damaged, or the index of its outer
 * call is not smaller, the lookup finds no inlined calls at this address, and returns a reason. The number of steps of
 * all lookups in a file is bounded.
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
