/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gotable.h - finds .gopclntab, the function table of a Go program's runtime, in an ELF file, and reads its header.
 *
 * strip and `go build -ldflags=-s` do not remove this table. Its parts are a header, the names, pctab (values by code
 * address), and the function table: the start of each function in ascending order, with the offset of its struct _func.
 * Supported are the layouts of Go 1.18 and of Go 1.20 (the last change) in 64-bit programs; other layouts are refused.
 *
 * The file is hostile input: each number is checked, no byte outside of the table is treated as part of it, and the
 * number of bytes that a search reads is limited.
 */
#ifndef PJ_GOTABLE_H
#define PJ_GOTABLE_H

#include "common/formats/elfhead.h"

/* GOTABLE_ENTRY: size of an entry of the function table in bytes: start of the function and offset of its struct _func,
 * 4 bytes each. GOTABLE_NAME: offset of the name in struct _func. */
enum { GOTABLE_ENTRY = 8, GOTABLE_NAME = 4 };

/* An open .gopclntab. */
struct gotable {
	const struct elfhead *head;
	/* File offset and size of the table in bytes. The table ends where moduledata has its end, or else with the
	 * section. */
	uint64_t at, size;
	uint64_t address;
	uint64_t functions; /* number of functions in the table */
	/* offsets of the parts from `at`, ascending: names; two tables about source files, which are not used; pctab;
	 * function table */
	uint64_t names, units, files, values, table;
	uint64_t text;    /* address to which the starts of functions are relative */
	uint64_t gofunc;  /* address of go.func.*, the data of functions; 0: unknown */
	unsigned quantum; /* unit of address differences in pctab in bytes: size of the shortest instruction */
	bool since_20;    /* true for the layout of Go 1.20 and later, false for Go 1.18 */
};

/* Opens the table of a file. Returns false if the file has none, if the table is damaged or has another layout, or if
 * the address of the code is unknown. That address is in the header, if the version of Go writes it there; else it is
 * that of .text, if a function _rt0_* of the table then starts at the entry point of the program; else it is in
 * moduledata. If no section is called .gopclntab, the table is searched in .data.rel.ro, where C linkers put it in
 * position-independent programs; then moduledata must confirm it. elfhead must exist as long as the table. */
bool gotable_open(struct gotable *gotable, const struct elfhead *elfhead);

/* Reads n bytes at an offset of the table. Returns the number of bytes, less than n at the end of the table. */
size_t gotable_read(const struct gotable *gotable, uint64_t offset, void *p, size_t n);

/* Returns the number of `size` bytes (1 to 8) at an offset of the table; UINT64_MAX if the bytes are beyond the end. */
uint64_t gotable_number(const struct gotable *gotable, uint64_t offset, unsigned size);

/* Sets *offset to the file offset of an address. Returns false if no segment contains the address. */
bool gotable_offset(const struct gotable *gotable, uint64_t address, uint64_t *offset);

/* Finds the moduledata of the program, the structure by which the runtime of Go finds its tables (gomodule.c). Sets
 * gotable->text, gofunc and size. Returns false, and changes nothing, if there is no moduledata that matches the table.
 * Reads a limited number of bytes. */
bool gotable_find_module(struct gotable *gotable);

#endif
