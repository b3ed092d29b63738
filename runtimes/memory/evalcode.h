/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evalcode.h - finds the code of an interpreter's eval function: the range of its symbol, and the parts that the
 * compiler moved elsewhere.
 *
 * A moved part has an FDE of its own and no symbol: Debian's CPython 3.14 has 1,184 bytes at the symbol and 84,423
 * bytes elsewhere. A part is accepted if code of a known range jumps into the FDE's range, and code of the FDE's range
 * jumps back into a known range, but not to the function's start. No other function jumps back in this way. A part that
 * never jumps back is left out: it only ends the process (pyenv's CPython 3.12 has one of 8 bytes). Jumps are jmp and
 * jcc with a displacement of 32 bits, searched at every byte. Bytes that look like a jump to a given target by accident
 * are improbable (2^-32 for each byte), and a part needs two such jumps.
 */
#ifndef PJ_EVALCODE_H
#define PJ_EVALCODE_H

#include "runtimes/memory/loadedfile.h"

#define EVALCODE_RANGES_MAX 8u

/* Address range of code, end excluded. */
struct evalcode_range {
	uint64_t start, end;
};

/* Code ranges of an eval function; the native frame of each activation is in one of them. */
struct evalcode {
	uint32_t n;
	struct evalcode_range range[EVALCODE_RANGES_MAX];
};

/* Sets *eval to the code of the exported function `name`. Returns false if the symbol does not exist, or its size is
 * 0 or above FDETABLE_FUNCTION_MAX. Moved parts are left out if the unwind tables (.eh_frame_hdr) are not readable. */
bool evalcode_find(struct loadedfile *file, struct str name, struct evalcode *eval);

/* Sets *to to the target of the jump whose bytes start at code[0], and at `address` in the process: e9 rel32 (jmp), or
 * 0f 80..8f rel32 (jcc).
 * Returns false for any other instruction. At least 6 bytes must be readable. Pure. */
bool evalcode_jump(const unsigned char *code, uint64_t address, uint64_t *to);

/* Returns true if the address is in one of the ranges. Pure. */
bool evalcode_holds(const struct evalcode *eval, uint64_t address);

#endif
