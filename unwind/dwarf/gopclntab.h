/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gopclntab.h - makes call frame information for a Go program from its table of functions, .gopclntab
 * (common/formats/gotable.h).
 *
 * Go programs have no .eh_frame, and no .debug_frame if they are built with -ldflags=-w. Go's compiler keeps frame
 * pointers except in leaf functions without a frame. If such a leaf is interrupted, rbp is the frame pointer of its
 * caller, so frame pointers skip the caller. The pcsp tables in .gopclntab have the distance from sp to the return
 * address for each instruction. Go's linker makes .debug_frame from them, and this module makes the same, except for
 * functions that change to another stack: Go's .debug_frame treats the end of the new stack as the end of the callers.
 *
 * Layout: src/internal/abi and src/runtime/symtab.go of Go (pcHeader and _func), as in Go 1.18 and since Go 1.20. The
 * table is hostile: the FDEs have at most `max` bytes, and the time per byte is constant.
 */
#ifndef PJ_GOPCLNTAB_H
#define PJ_GOPCLNTAB_H

#include "common/text.h"

/* Appends a section .debug_frame for the functions in a .gopclntab of x86-64 to the text `out`. table: bytes of
 * .gopclntab; text: address of the code. Appends nothing if the table has an unknown layout, or if FDEs of more
 * than `max` bytes are made, including those of FDEs that are dropped as invalid. */
void gopclntab_frames(struct str table, uint64_t text, size_t max, struct text *out);

#endif
