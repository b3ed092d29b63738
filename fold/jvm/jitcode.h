/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitcode.h - code that a JIT compiler generated, with its name: of a jitdump, a code timeline or a window of pjrecord.
 */
#ifndef PJ_JITCODE_H
#define PJ_JITCODE_H

#include "common/str.h"

/* Code of one function at one address. */
struct jit_code {
	/* Address range in the process, in bytes. */
	uint64_t start, size;
	/* Time in ns from which the code is at this address. */
	uint64_t from;
	/* Number of the code, assigned by the JIT. */
	uint64_t index;
	/* Name as the JIT wrote it; valid as long as its source. */
	struct str name;
	/* Calls inlined at the address, outermost first, separated by NUL; only of JVMs. */
	struct str inlined;
	/* The .eh_frame of the code, or empty. */
	struct str unwind;
	/* Line and file of the first debug entry; line 0: none. */
	uint32_t line;
	struct str file;
};

#endif
