/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elfsymbol.h - finds the file offset of a function by its name in .symtab and .dynsym.
 *
 * Names are in the form of the file: C++ and Rust names are mangled. Of a versioned symbol, only the default version is
 * found. The file is hostile input (elfhead.h).
 */
#ifndef PJ_ELFSYMBOL_H
#define PJ_ELFSYMBOL_H

#include "common/formats/elfhead.h"

/* Maximum size in bytes of a section that is read; larger tables are not searched (ELFSYMBOL_LARGE). Three sections are
 * in memory at a time. .strtab of a browser with all symbols has 300 MB, .strtab of libjvm 4 MB. */
#define ELFSYMBOL_SECTION_MAX ((uint64_t)384 << 20)

enum {
	ELFSYMBOL_NAME_MAX = 4096, /* names of this many bytes or more are not found */
	ELFSYMBOL_SIMILAR = 64     /* size of a similar name in bytes, including its NUL */
};

enum elfsymbol_answer {
	ELFSYMBOL_FOUND,
	ELFSYMBOL_NONE,     /* no function has this name */
	ELFSYMBOL_EMPTY,    /* the file has no functions in its symbol tables */
	ELFSYMBOL_LARGE,    /* the function was not found, and a table exceeds ELFSYMBOL_SECTION_MAX and was not read */
	ELFSYMBOL_SEVERAL,  /* functions of the same binding (local or not) at different addresses have this name */
	ELFSYMBOL_INDIRECT, /* the symbol is STT_GNU_IFUNC: its code selects a function when the program starts */
	ELFSYMBOL_NO_CODE   /* the address is in no executable segment of the file */
};

struct elfsymbol {
	/* file offset of the function's first byte */
	uint64_t offset;
	/* for ELFSYMBOL_NONE: a similar name, in printable ASCII without blanks; empty: none */
	char similar[ELFSYMBOL_SIMILAR];
};

/* Looks up a function by its name. Returns ELFSYMBOL_FOUND and sets symbol->offset, or returns the reason of the
 * failure; may set symbol->similar. *elfhead must contain the section headers (elfhead_read). */
enum elfsymbol_answer elfsymbol_find(const struct elfhead *elfhead, struct str name, struct elfsymbol *symbol);

#endif
