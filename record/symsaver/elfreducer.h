/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elfreducer.h - an ELF file without what it does: headers, symbols, notes, what names stubs, and unwind tables; no
 * code, no data.
 *
 * The sections that are kept and are part of the program stay where they were in the file, so places in it, which is
 * what mappings and symbol tables are related by, are those of the original, for every reader; between them are holes,
 * which take no space. What is not part of the program (.symtab, .strtab) is moved up behind them. All others say
 * NOBITS. So every tool finds in it what it would find in the original, as far as names go.
 */
#ifndef PJ_ELFREDUCER_H
#define PJ_ELFREDUCER_H

#include "common/formats/buildid.h"
#include "common/formats/elfhead.h"

struct reduced {
	struct build_id build_id;
	uint64_t bytes; /* that were kept */
	bool names;     /* there is something in it that names code */
};

/* Reads in, writes to out (an empty file). NULL, or why it was not done, a static text; *r as far as it is known. max:
 * of bytes that are kept; more is "too large". "cannot write" is a reason of ours, errno says which. */
const char *elfreducer_write(int in, int out, uint64_t max, struct reduced *reduced);

extern const char reducer_too_large[], reducer_cannot_write[];

/* All n bytes at that place, or false; for who writes such files. */
bool elfreducer_put(int fd, const void *p, size_t n, uint64_t at);

#endif
