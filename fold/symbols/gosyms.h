/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gosyms.h - looks up names of Go's functions in the table that a Go program has at run time (gotable.h).
 *
 * Queries are ascending, so the table is read once, in blocks; names and structs are read for sampled functions only.
 * Nothing is stored of others. The table is hostile: the cost is constant for each query and each function.
 */
#ifndef PJ_GOSYMS_H
#define PJ_GOSYMS_H

#include "common/formats/gotable.h"
#include "fold/symbols/symtab.h"

/* An open table, of which names are read. */
struct gosyms {
	struct gotable gotable;
	uint64_t left; /* number of bytes of names that may still be read */
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

/* Opens the table of a file, as gotable_open does. */
bool gosyms_open(struct gosyms *gosyms, const struct elffile *elffile);

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

#endif
