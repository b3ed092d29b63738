/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trampolines.h - makes call frame information for trampolines of CPython by recognizing their code.
 *
 * CPython -X perf and -X perf_jit (3.12 and later) call each Python function through a trampoline of its own, in
 * anonymous memory, so that a perf map or a jitdump can name the function. The trampoline of 3.12 and 3.13.5
 * (Python/asm_trampoline.S) keeps no frame pointer, so frame pointers skip its caller. The trampoline of 3.13.18,
 * 3.14.10 and 3.15.2 keeps it.
 *
 * The code alone proves the rules: from the first instruction to the return there is no jump, and the only call returns
 * with unchanged stack pointer. So the return address is at a known distance from sp at each instruction, whichever
 * program made the code. x86-64 only: trampolines of aarch64 keep x29.
 */
#ifndef PJ_TRAMPOLINES_H
#define PJ_TRAMPOLINES_H

#include "common/text.h"

/* maximum length of a trampoline in bytes */
enum { TRAMPOLINES_LONGEST = 15 };

/* Appends a section .eh_frame to the empty text `out`, with one FDE for each trampoline that is completely in `code`.
 * Appends nothing if there is none. address: address that the FDEs give to the first byte of code, below 2^32 -
 * code.n. The section has
 * at most 4 bytes per byte of code, plus 32. Code is hostile: the time per byte is constant. */
void trampolines_frames(struct str code, uint64_t address, struct text *out);

#endif
