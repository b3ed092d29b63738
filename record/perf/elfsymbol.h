/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elfsymbol.h - the file offset of a function that is given by its name, from .symtab and .dynsym.
 *
 * Names are those of the file: C++ and Rust names are mangled. Of versioned symbols the default version counts. The
 * file is hostile (elfhead.h).
 */
#ifndef PJ_ELFSYMBOL_H
#define PJ_ELFSYMBOL_H

#include "common/formats/elfhead.h"

/* Limit for a section in bytes, three of which are in memory at a time: .strtab of a browser with all symbols has 300
 * MB, of libjvm 4 MB. */
#define ELFSYMBOL_SECTION_MAX ((uint64_t)384 << 20)

enum {
	ELFSYMBOL_NAME_MAX = 4096, /* bytes of the longest name that is searched */
	ELFSYMBOL_SIMILAR = 64     /* bytes of a similar name with its NUL */
};

enum elfsymbol_answer {
	ELFSYMBOL_FOUND,
	ELFSYMBOL_NONE,     /* no function has this name */
	ELFSYMBOL_EMPTY,    /* the file has no symbols */
	ELFSYMBOL_LARGE,    /* the function was not found, and a table is larger than ELFSYMBOL_SECTION_MAX */
	ELFSYMBOL_SEVERAL,  /* functions at different addresses have this name */
	ELFSYMBOL_INDIRECT, /* STT_GNU_IFUNC: its code chooses a function at the start of the program */
	ELFSYMBOL_NO_CODE   /* the address is in no executable segment of the file */
};

struct elfsymbol {
	/* offset of the function's first byte in the file */
	uint64_t offset;
	/* ELFSYMBOL_NONE: a similar name, of printable ASCII without blanks; empty: none */
	char similar[ELFSYMBOL_SIMILAR];
};

/* Looks up a function and fills *symbol. The headers were read with sections. */
enum elfsymbol_answer elfsymbol_find(const struct elfhead *elfhead, struct str name, struct elfsymbol *symbol);

#endif
