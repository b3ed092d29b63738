/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.h - what every source of names answers: which function is at these addresses?
 *
 * Sources (ELF files, kallsyms, perf maps, jitdumps) are asked once, with all addresses that were hit, in ascending
 * order, and stream their table against them: nothing is built for symbols that nobody hit, and only winners are
 * demangled. Names are interned raw: the naming rules (names.h) come later, once for all sources.
 */
#ifndef PJ_SYMBOLS_H
#define PJ_SYMBOLS_H

#include "common/intern.h"

struct symbols_query {
	uint64_t address; /* what it is relative to, the source says; distinct and ascending in an array */
	uint32_t name;    /* answer: id in the intern table given; 0: no symbol is there */
	uint32_t offset;  /* answer: address - start of the symbol, UINT32_MAX when larger */
	uint32_t inlined; /* answer, where it was asked for: id of the names of inlined calls there (inlines.h); 0: none
			   */
};

#endif
