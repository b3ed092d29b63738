/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trampolines.h - call frame information of CPython's trampolines, from their code.
 *
 * CPython -X perf and -X perf_jit (3.12 and later) call each function through a trampoline of its own in memory without
 * a file, so that a perf map or a jitdump can name it. That of 3.12 and 3.13.5 (Python/asm_trampoline.S) keeps no frame
 * pointer, so frame pointers lead past its callers; that of 3.13.18, 3.14.10 and 3.15.2 keeps it.
 *
 * The code alone proves the rules of a trampoline: from its first instruction to its return no instruction jumps, and
 * the only call returns with the stack pointer that it found. So the return address is at a known distance from sp
 * wherever a thread is in it, whichever program made the code. x86-64 only: trampolines of aarch64 keep x29.
 */
#ifndef PJ_TRAMPOLINES_H
#define PJ_TRAMPOLINES_H

#include "common/text.h"

/* Greatest length of a trampoline in bytes. */
enum { TRAMPOLINES_LONGEST = 15 };

/* Appends a section .eh_frame to an empty text, with one FDE for each trampoline that lies completely in code; nothing
 * if there is none. address: that of code in the section, below 2^32 - code.n. The section has at most 4 bytes for each
 * byte of code, and 32 more. Code is hostile: each byte costs a constant time. */
void trampolines_frames(struct str code, uint64_t address, struct text *out);

#endif
