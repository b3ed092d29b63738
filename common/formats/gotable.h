/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gotable.h - finds the table that a Go program has at run time, .gopclntab, in an ELF file, and reads its header.
 *
 * strip and `go build -ldflags=-s` leave this table. Its parts are a header, the names, pctab (values by address of
 * code), and the table of functions: their starts in ascending order and the places of their structs _func. Layouts of
 * Go 1.18 and 1.20 (their last change), programs of 64 bits; other layouts are refused.
 *
 * The file is hostile: each number is checked, no byte outside of the table is taken for a part of it, and the number
 * of bytes that a search reads is limited.
 */
#ifndef PJ_GOTABLE_H
#define PJ_GOTABLE_H

#include "common/formats/elfhead.h"

/* Size of an entry of the table of functions: the start of a function, and the place of its struct _func, 4 bytes each.
 * Offset of the name in struct _func. */
enum { GOTABLE_ENTRY = 8, GOTABLE_NAME = 4 };

/* An open table. */
struct gotable {
	const struct elfhead *head;
	/* Offset in the file, and number of bytes: up to the end that moduledata has, or to that of the section. */
	uint64_t at, size;
	uint64_t address;
	uint64_t functions; /* number of functions */
	/* offsets from `at`, ascending: names; tables of files, which are not used; pctab; table of functions */
	uint64_t names, units, files, values, table;
	uint64_t text;    /* address of the code */
	uint64_t gofunc;  /* address of the data of functions (go.func.*); 0: not proven */
	unsigned quantum; /* unit of differences of addresses in pctab: size of the shortest instruction */
	bool since_20;    /* layout of Go 1.20 */
};

/* Opens the table of a file. Returns false if the file has none, if its layout is another or damaged, or if the address
 * of the code is not proven: the header lacks it, no function of that purpose begins where the program does if .text is
 * the code, and there is no moduledata. Without a section of that name the table is searched in .data.rel.ro, into
 * which linkers of C put it for programs of variable address; then moduledata must prove it. elfhead stays the
 * caller's, and must live as long as the table. */
bool gotable_open(struct gotable *gotable, const struct elfhead *elfhead);

/* Reads bytes of the table from an offset. Returns their number, less than n at the end of the table. */
size_t gotable_read(const struct gotable *gotable, uint64_t offset, void *p, size_t n);

/* Returns a number of `size` bytes (1 to 8) at an offset of the table; UINT64_MAX beyond its end. */
uint64_t gotable_number(const struct gotable *gotable, uint64_t offset, unsigned size);

/* Returns the file offset of an address; false if no segment contains it. */
bool gotable_offset(const struct gotable *gotable, uint64_t address, uint64_t *offset);

/* Finds the moduledata of the program, the structure by which Go's runtime finds its tables (gomodule.c). Sets
 * gotable->gofunc and size, and gotable->text if the header lacks it. Changes nothing and returns false if no
 * moduledata is proven. The cost is bounded by a limit of bytes that are searched. */
bool gotable_find_module(struct gotable *gotable);

#endif
