/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitcode.h - named code of a JIT compiler, from a jitdump, a code timeline, a window of pjrecord or a packed
 * recording.
 */
#ifndef PJ_JITCODE_H
#define PJ_JITCODE_H

#include "common/str.h"

/* Code of one function at one address. */
struct jit_code {
	/* Start address in the process, and size in bytes. */
	uint64_t start, size;
	/* Time in ns from which the code is at this address. */
	uint64_t from;
	/* Number that the JIT compiler assigned to the code. */
	uint64_t index;
	/* Name as the JIT compiler wrote it; valid as long as the jitdump, timeline or recording that it comes from. */
	struct str name;
	/* Names of the calls inlined at the address that was looked up, outermost first, separated by NUL. Empty for
	 * code outside of JVMs. */
	struct str inlined;
	/* Section .eh_frame for the code. The addresses in the section assume that the section follows the code at the
	 * next multiple of 8. Empty if there is none. A jitdump stores equal sections once. */
	struct str unwind;
	/* Source line and file of the start of the function; line 0: unknown. */
	uint32_t line;
	struct str file;
};

#endif
