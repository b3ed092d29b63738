/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsstacks.h - finds the functions of a native frame, for an interpreter that has its frames on the native stack (V8).
 *
 * The helper proposes frames: pairs of a frame pointer and an instruction pointer, each with one function or, if calls
 * are inlined, several. The stack walker knows which frames the thread has. A proposal is used only for a native frame
 * with both of its values; a callee that keeps its caller's frame pointer, as code of libc, is not that frame. Pure.
 */
#ifndef PJ_JSSTACKS_H
#define PJ_JSSTACKS_H

#include "record/interpreters/interphelper.h"

/* A native stack and the proposals for it, in order of their frame pointers. */
struct jsstacks {
	const struct walk_frame *native; /* innermost first */
	size_t nnative;
	const struct interp_frame *frame;
	size_t n;
};

/* The functions of a native frame: proposals [first, end), inlined functions before the one that contains them; none if
 * the frame has no proposal, or if one of its functions has no name (`unnamed`). */
struct jsstacks_functions {
	size_t first, end;
	bool unnamed;
};

/* Returns the functions of native frame i. */
struct jsstacks_functions jsstacks_at(const struct jsstacks *stacks, size_t i);

/* Returns those of the frame that called the leaf, if the walk missed it: the leaf is code of V8 without a frame of its
 * own, or its prologue, so that its frame pointer leads to the caller's caller. To be called if the leaf has no
 * functions. */
struct jsstacks_functions jsstacks_after_leaf(const struct jsstacks *stacks);

#endif
