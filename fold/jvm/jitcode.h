/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitcode.h - code that a JIT compiler generated, with its name: of a jitdump, a code timeline or a window of pjrecord.
 */
#ifndef PJ_JITCODE_H
#define PJ_JITCODE_H

#include "common/str.h"

/* Code of one function at one address. */
struct jit_code {
	/* Start address in the process; size in bytes. */
	uint64_t start, size;
	/* Time in ns from which the code is at this address. */
	uint64_t from;
	/* Number of the code, assigned by the JIT. */
	uint64_t index;
	/* Name as the JIT wrote it; valid as long as its source. */
	struct str name;
	/* Names of the calls inlined at the address that was looked up, outermost first, separated by NUL; empty if not
	 * of a JVM. */
	struct str inlined;
	/* The .eh_frame section of the code, at the next multiple of 8 behind it; empty if it has none. A jitdump
	 * stores equal sections once. */
	struct str unwind;
	/* Source line and file of the start of the function; line 0: unknown. */
	uint32_t line;
	struct str file;
};

#endif
