/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gopclntab.h - call frame information of Go programs, from their table of functions (common/formats/gotable.h).
 *
 * Go programs have no .eh_frame, and no .debug_frame if they are built with -ldflags=-w. Go's compiler keeps frame
 * pointers except in leaf functions without a frame. Interrupted there, rbp is the frame pointer of the caller, so
 * frame pointers lose the caller. The table pcsp in .gopclntab has the distance from sp to the return address for each
 * instruction; the linker of Go makes .debug_frame of it, and this module makes the same, but for functions that change
 * to another stack. There .debug_frame takes the end of the new stack for the end of the callers.
 *
 * Layout: src/internal/abi and src/runtime/symtab.go of Go, pcHeader and _func, of Go 1.18 and 1.20 (their last
 * change). The table is hostile: the result has at most `max` bytes, and each of them costs a constant time.
 */
#ifndef PJ_GOPCLNTAB_H
#define PJ_GOPCLNTAB_H

#include "common/text.h"

/* Appends to an empty text a section .debug_frame for the functions of a table, of x86-64. table: its bytes; text:
 * address of the code. Appends nothing if the table has another layout, or if the result exceeds max bytes. */
void gopclntab_frames(struct str table, uint64_t text, size_t max, struct text *out);

#endif
