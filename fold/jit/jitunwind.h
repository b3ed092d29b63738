/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitunwind.h - unwind tables for JIT code, from the UNWINDING_INFO records of a jitdump.
 *
 * The jitdump has a section .eh_frame for the code of each function. The addresses in the section assume that the
 * section follows the code, at the next multiple of 8. Functions of equal size and section therefore share a table, as
 * all trampolines of CPython -X perf_jit do. The sections are hostile input: one process has at most JITUNWIND_TABLES
 * tables, each from a section of at most JITUNWIND_SECTION bytes; the tables and their decoded rows take at most
 * JITUNWIND_BYTES of memory. Code of the process beyond these limits is unwound by frame pointers.
 */
#ifndef PJ_JITUNWIND_H
#define PJ_JITUNWIND_H

#include "common/intern.h"
#include "fold/jvm/jitcode.h"
#include "unwind/dwarf/cfiunwind.h"

#define JITUNWIND_TABLES 1024u
#define JITUNWIND_SECTION ((size_t)64 << 10)
#define JITUNWIND_BYTES ((size_t)64 << 20)

/* Unwind tables of one process; all zero: empty. The jitdump must exist until jitunwind_free(). */
struct jitunwind {
	/* keys: interned pairs of section and code size. table: by id in `keys` minus 1: unwind table; NULL: the
	 * section has no usable FDE. */
	struct intern keys;
	struct unwind_table **table;
	/* memory[i]: size in bytes of table[i] at the last lookup in it. bytes: sum of these sizes. */
	size_t *memory, bytes;
	/* Number of lookups of code whose table exceeds a limit; such code is unwound by frame pointers. */
	uint64_t refused;
};

/* Sets *tables to the unwind table for `code`. Returns false if the code has no table, or if the table exceeds a limit.
 */
bool jitunwind_find(struct jitunwind *jitunwind, const struct jit_code *code, struct unwind_code *tables);

void jitunwind_free(struct jitunwind *jitunwind);

#endif
