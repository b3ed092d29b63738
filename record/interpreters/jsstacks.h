/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsstacks.h - finds the functions of a native frame, for an interpreter that has its frames on the native stack (V8).
 *
 * The helper proposes frames: pairs of frame pointer and instruction pointer, with the functions that the frame runs:
 * one, or several if calls are inlined. The stack walker decides which frames the thread really has: a proposal is used
 * only if a native frame has the same frame pointer and instruction pointer. A callee that leaves its caller's frame
 * pointer unchanged, such as code of libc, has a frame pointer of a proposal, but is not the proposed frame. Pure.
 */
#ifndef PJ_JSSTACKS_H
#define PJ_JSSTACKS_H

#include "record/interpreters/interphelper.h"

/* A native stack, and the proposals for it in order of their frame pointers. */
struct jsstacks {
	const struct walk_frame *native; /* frames of the native stack, innermost first */
	size_t nnative;
	const struct interp_frame *frame;
	size_t n;
};

/* The functions of a native frame: proposals [first, end), each inlined function before the function that contains it.
 * The range is empty if the frame has no proposal, or runs internal code of the interpreter. It is also empty if one of
 * the functions has no name; then `unnamed` is true. */
struct jsstacks_functions {
	size_t first, end;
	bool unnamed;
};

/* Returns the functions of native frame i. */
struct jsstacks_functions jsstacks_at(const struct jsstacks *stacks, size_t i);

/* Returns the functions of the frame that called the leaf, if the stack walk missed that frame. This happens if the
 * leaf is V8 code without a frame of its own, or in its prologue: the leaf's frame pointer then leads to the caller's
 * caller. To be called only if the leaf has no functions. */
struct jsstacks_functions jsstacks_after_leaf(const struct jsstacks *stacks);

#endif
