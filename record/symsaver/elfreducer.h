/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elfreducer.h - reduces an ELF file to headers, symbols, notes, the sections that name stubs, unwind tables, and the
 * table of functions of a Go program without .symtab; without code and data.
 *
 * Kept sections that are part of the program keep their file offsets, which mappings and symbol tables refer to;
 * between them are holes, which take no space. Other kept sections (.symtab, .strtab) move up behind these. All others
 * become NOBITS. So every tool finds the same names in the result as in the original, but for Go's functions in
 * programs of variable address that a linker of C made, and for inlined calls.
 */
#ifndef PJ_ELFREDUCER_H
#define PJ_ELFREDUCER_H

#include "common/formats/buildid.h"
#include "common/formats/elfhead.h"

struct reduced {
	struct build_id build_id;
	uint64_t bytes; /* size of the kept sections in bytes */
	bool names;     /* true: at least one kept section has names of code */
};

/* Reads the ELF file `in` and writes the reduced file to the empty file `out`. Returns NULL, or the reason of a failure
 * as a static text: reducer_too_large if more than max bytes would be kept, reducer_cannot_write with the reason in
 * errno. Fills *reduced as far as it is known. */
const char *elfreducer_write(int in, int out, uint64_t max, struct reduced *reduced);

extern const char reducer_too_large[], reducer_cannot_write[];

/* Writes n bytes at offset `at`. Returns false with errno if not all of them were written. */
bool elfreducer_put(int fd, const void *p, size_t n, uint64_t at);

#endif
