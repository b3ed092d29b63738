/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gosyms.h - looks up names of Go's functions in the table that a Go program has at run time (gotable.h).
 *
 * Queries are ascending, so the table is read once, in blocks. Names and structs are read for sampled functions only;
 * nothing is stored about other functions. The table is hostile: the cost of each query and each function is bounded.
 */
#ifndef PJ_GOSYMS_H
#define PJ_GOSYMS_H

#include "common/formats/gotable.h"
#include "fold/symbols/symtab.h"

/* An open table of Go functions, with a limit for the names that are read. */
struct gosyms {
	struct gotable gotable;
	uint64_t left; /* number of bytes of names that may still be read */
};

/* A Go function. start, end: virtual addresses of its code. place: offset of the function's struct _func in the
 * section. */
struct gosyms_function {
	uint64_t start, end, place;
};

enum { GOSYMS_BLOCK = 2048 }; /* number of functions read at a time: 16 kB */

/* Position of a search in the table of functions. The caller sets `gosyms`, and the other members to 0. */
struct gosyms_finder {
	const struct gosyms *gosyms;
	uint64_t next;     /* index of the function at which the next search starts */
	uint64_t first, n; /* `block` has the functions first to first + n - 1 */
	/* For each function, two words: offset of the code from gotable.text, and offset of the struct _func from
	 * gotable.table. Then the first word of the next function. */
	uint32_t block[2 * GOSYMS_BLOCK + 1];
};

/* A requested virtual address, and its index in the request. */
struct gosyms_place {
	uint64_t address;
	size_t index;
};

/* Opens the table of a file, as gotable_open does. Returns false if the file has no usable table. */
bool gosyms_open(struct gosyms *gosyms, const struct elffile *elffile);

/* Sets *function to the function that contains an address. Returns false if there is none. Addresses of successive
 * calls must ascend. */
bool gosyms_find(struct gosyms_finder *finder, uint64_t address, struct gosyms_function *function);

/* Translates the file offsets at[0..*n) to virtual addresses, and returns these in ascending order. Sets *n to the
 * number of addresses: offsets outside of all segments are left out. The caller frees the result. */
struct gosyms_place *gosyms_places(const struct elffile *runtime, const uint64_t *at, size_t *n);

/* Appends the name at an offset in the table of names. Returns false and appends nothing if there is no name, or if all
 * names read so far exceed a limit, a multiple of the size of the section. */
bool gosyms_name(struct gosyms *gosyms, uint64_t offset, struct text *out);

/* Sets answer[i] to the function that contains file offset at[i], for n distinct, ascending offsets, as symtab_resolve
 * does. Leaves answer[i] unchanged if at[i] is not in a Go function, but for example in C code. */
void gosyms_resolve(struct gosyms *gosyms, struct symtab_search *search, const uint64_t *at, size_t n,
		    struct symtab_answer *answer);

#endif
