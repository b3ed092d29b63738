/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gopclntab.h - call frame information of Go programs, from their table of functions, section .gopclntab.
 *
 * Go programs have no .eh_frame, and no .debug_frame if they are built with -ldflags=-w. Go's compiler keeps frame
 * pointers except in leaf functions without a frame. Interrupted there, rbp is the frame pointer of the caller, so
 * frame pointers lose the caller. The table pcsp of .gopclntab has the distance from sp to the return address for each
 * instruction; the linker of Go makes .debug_frame of it, and this module makes the same, but for functions that change
 * to another stack. There .debug_frame takes the end of the new stack for the end of the callers.
 *
 * Layout: src/internal/abi and src/runtime/symtab.go of Go, pcHeader and _func, of Go 1.18 and 1.20 (their last
 * change). The section is hostile: the result has at most `max` bytes, and each of them costs a constant time.
 */
#ifndef PJ_GOPCLNTAB_H
#define PJ_GOPCLNTAB_H

#include "common/text.h"

/* Appends to an empty text a section .debug_frame for the functions of section .gopclntab, of x86-64. text: address of
 * section .text; entry: the first instruction of the program (e_entry). The header lacks the address of the code in
 * programs of variable address (-buildmode=pie); then it is `text`, if a function starts at `entry`. Appends nothing if
 * the section has another layout, or if the result exceeds max bytes. */
void gopclntab_frames(struct str section, uint64_t text, uint64_t entry, size_t max, struct text *out);

#endif
