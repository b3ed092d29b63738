/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gosyms.h - looks up names of Go's functions in the table that a Go program has at run time, section .gopclntab.
 *
 * strip and `go build -ldflags=-s` leave this section. Its parts are a header, the names, pctab (values by address of
 * code), and the table of functions: their starts in ascending order and the places of their structs _func. Layouts of
 * Go 1.18 and 1.20 (their last change), programs of 64 bits; other layouts are refused. Queries are ascending, so the
 * table is read once, in blocks; names and structs are read for sampled functions only. Nothing is stored of others.
 *
 * The section is hostile: each number is checked, no byte outside of the section is taken for a part of it, and the
 * cost is constant for each query and each function of the table.
 */
#ifndef PJ_GOSYMS_H
#define PJ_GOSYMS_H

#include "fold/symbols/symtab.h"

/* An open table. */
struct gosyms {
	const struct elffile *file;
	uint64_t at, size; /* offset in the file, and number of bytes up to the end of the ELF section */
	uint64_t address;
	uint64_t functions; /* number of functions */
	/* offsets from `at`, ascending: names; tables of files, which are not used; pctab; table of functions */
	uint64_t names, units, files, values, table;
	uint64_t text;    /* address of the code */
	uint64_t gofunc;  /* address of the data of functions (go.func.*); 0: not proven */
	uint64_t left;    /* number of bytes of names that may still be read */
	unsigned quantum; /* unit of differences of addresses in pctab: size of the shortest instruction */
	bool since_20;    /* layout of Go 1.20 */
};

/* A function: addresses of its code, and the offset in the section of its struct _func. */
struct gosyms_function {
	uint64_t start, end, place;
};

enum { GOSYMS_BLOCK = 2048 }; /* number of functions read at a time: 16 kB */

/* Position in the table of functions; .gosyms is set, the rest is zero at the start. */
struct gosyms_finder {
	const struct gosyms *gosyms;
	uint64_t next;                        /* index of the function at which the next search begins */
	uint64_t first, n;                    /* the block has the functions first to first + n - 1 */
	uint32_t block[2 * GOSYMS_BLOCK + 1]; /* start and place of each, and the start of the next */
};

/* A requested address, and its index in the request. */
struct gosyms_place {
	uint64_t address;
	size_t index;
};

/* Opens the table of a file. Returns false if the file has none, if its layout is another or damaged, or if the address
 * of the code is not proven: neither the header nor moduledata has it, and no function of that
 * purpose begins in .text where the program does. Without a section of that name the table is searched in .data.rel.ro,
 * into which linkers of C put it for programs of variable address; then moduledata must prove it. elffile stays the
 * caller's, and must live as long as the table. */
bool gosyms_open(struct gosyms *gosyms, const struct elffile *elffile);

/* Reads bytes of the section from an offset. Returns their number, less than n at the end of the section. */
size_t gosyms_read(const struct gosyms *gosyms, uint64_t offset, void *p, size_t n);

/* Returns a number of `size` bytes (1 to 8) at an offset of the section; UINT64_MAX beyond its end. */
uint64_t gosyms_number(const struct gosyms *gosyms, uint64_t offset, unsigned size);

/* Finds the function that contains an address. Addresses of successive calls ascend. */
bool gosyms_find(struct gosyms_finder *finder, uint64_t address, struct gosyms_function *function);

/* Returns the addresses of n file offsets, of those that have one, ascending; sets *n to their number. The caller frees
 * them. */
struct gosyms_place *gosyms_places(const struct elffile *runtime, const uint64_t *at, size_t *n);

/* Appends the name at an offset of the names. Returns false and appends nothing if no name begins there, or if the
 * names read so far exceed a limit, a multiple of the size of the section. */
bool gosyms_name(struct gosyms *gosyms, uint64_t offset, struct text *out);

/* Sets answer[i] to the function that contains file offset at[i], for n distinct, ascending offsets, as symtab_resolve
 * does. Leaves the answers for code of no Go function, as that of C. */
void gosyms_resolve(struct gosyms *gosyms, struct symtab_search *search, const uint64_t *at, size_t n,
		    struct symtab_answer *answer);

/* Finds the moduledata of the program, the structure by which Go's runtime finds its tables (gomodule.c). Sets
 * gosyms->gofunc, and gosyms->text if the header lacks it. Changes nothing and returns false if no moduledata is
 * proven. The cost is bounded by a limit of bytes that are searched. */
bool gosyms_find_module(struct gosyms *gosyms);

#endif
