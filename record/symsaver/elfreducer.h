/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elfreducer.h - reduces an ELF file to headers, symbols, notes, PLT sections, unwind tables and, of a Go program
 * without .symtab, its table of functions. Removes code and data.
 *
 * Sections that are part of the program keep their file offsets, because mappings and symbol tables refer to these
 * offsets. Between the sections are holes, which use no disk space. Other kept sections (.symtab, .strtab) move to the
 * end of the program's sections. Removed sections become NOBITS. So each tool finds the same names in the reduced file
 * as in the original. Exceptions: functions of Go in position-independent programs that a C linker linked, and inlined
 * calls.
 */
#ifndef PJ_ELFREDUCER_H
#define PJ_ELFREDUCER_H

#include "common/formats/buildid.h"
#include "common/formats/elfhead.h"

/* Result of a reduction. build_id: build-id of the file; n 0: none. */
struct reduced {
	struct build_id build_id;
	uint64_t bytes; /* sum of the sizes of the kept sections in bytes; from dynelf.h: size of the file */
	bool names;     /* true: at least one kept section has names of functions */
};

/* Reads the ELF file `in` and writes the reduced file to the empty file `out`. Fills *reduced as far as it is known.
 * Returns NULL on success, otherwise the reason as a static text: reducer_too_large if the kept sections exceed max
 * bytes, reducer_cannot_write with errno, or another text if `in` is damaged. A file without section headers yields an
 * empty file. */
const char *elfreducer_write(int in, int out, uint64_t max, struct reduced *reduced);

extern const char reducer_too_large[], reducer_cannot_write[];

/* Writes n bytes at file offset `at` of fd. Returns false with errno if not all of the bytes could be written. */
bool elfreducer_put(int fd, const void *p, size_t n, uint64_t at);

#endif
