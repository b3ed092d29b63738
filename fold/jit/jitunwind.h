/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitunwind.h - unwind tables of generated code, from the UNWINDING_INFO records of a jitdump.
 *
 * The jitdump describes the code of each function by a section .eh_frame whose addresses assume that it follows the
 * code, at the next multiple of 8. So functions of equal size and section share a table: all trampolines of CPython -X
 * perf_jit do. The sections are hostile: one process has at most JITUNWIND_TABLES tables of JITUNWIND_SECTION bytes
 * each, which take JITUNWIND_BYTES of memory with their decoded rows; other code of the process is unwound by frame
 * pointers.
 */
#ifndef PJ_JITUNWIND_H
#define PJ_JITUNWIND_H

#include "common/intern.h"
#include "fold/jvm/jitcode.h"
#include "unwind/dwarf/cfiunwind.h"

#define JITUNWIND_TABLES 1024u
#define JITUNWIND_SECTION ((size_t)64 << 10)
#define JITUNWIND_BYTES ((size_t)64 << 20)

/* The tables of one process; all zero is empty. The jitdump must exist until jitunwind_free(). */
struct jitunwind {
	/* Distinct (section, size of the code); the table of each id, NULL: the section has no FDE. */
	struct intern keys;
	struct unwind_table **table;
	/* Memory in bytes of each table at its last lookup, and their sum. */
	size_t *memory, bytes;
	/* Number of lookups in code whose table exceeds a limit. */
	uint64_t refused;
};

/* Sets *tables to the unwind table of code. Returns false if it has none, or one beyond the limits. */
bool jitunwind_find(struct jitunwind *jitunwind, const struct jit_code *code, struct unwind_code *tables);

void jitunwind_free(struct jitunwind *jitunwind);

#endif
