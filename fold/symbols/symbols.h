/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.h - the lookup of function names by address, common to all sources of names.
 *
 * A source (ELF file, kallsyms, perf map, jitdump) is called once with all sampled addresses, in ascending order, and
 * streams its table against them: it builds no index of all symbols, and demangles only results. Names are interned as
 * they are in the source; the naming rules (names.h) are applied later, once for all sources.
 */
#ifndef PJ_SYMBOLS_H
#define PJ_SYMBOLS_H

#include "common/intern.h"

struct symbols_query {
	/* Address to look up, in the address space of the source. The addresses of an array are distinct and ascending.
	 */
	uint64_t address;
	/* Result: id of the symbol's name in the intern table that the lookup was given; 0 if there is no symbol. */
	uint32_t name;
	/* Result: distance in bytes from the start of the symbol to the address, at most UINT32_MAX. */
	uint32_t offset;
	/* Result if requested: id of the names of inlined calls (inlines.h); 0: none. */
	uint32_t inlined;
};

#endif
