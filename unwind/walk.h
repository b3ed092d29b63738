/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.h - the stack walker: from registers and a copy of the stack to the frames of a stack, leaf first.
 *
 * pjrecord walks live processes, pjfold walks recorded stack copies, and both use this loop. The owner of a walk
 * finds the code at an address (`find`); the unwinder of that code leads to the caller (`step`). Frame pointers and
 * call frame information have their unwinders here; each language runtime brings one (runtimes/runtime.h).
 *
 *	static bool find(void *owner, const struct walk *walk, const struct unwind_state *state, struct walk_code *code)
 *	{
 *		code->tables = table_at(owner, walk_code_address(state));
 *		code->unwinder = code->tables.table ? &unwinder_cfi : &unwinder_frame_pointer;
 *		return true;
 *	}
 *
 *	struct walk walk = { .find = find, .owner = owner, .max = 1024, .retry_leaf = true };
 *
 *	if (unwind_start(&state, mask, regs, abi, stack) && walk_stack(&walk, &state))
 *		use(walk.frame, walk.n, walk.end);
 *	walk_release(&walk);
 */
#ifndef PJ_WALK_H
#define PJ_WALK_H

#include "common/formats/pjsection.h"
#include "unwind/dwarf/cfiunwind.h"

/* One frame. */
struct walk_frame {
	/* A return address, or where code was interrupted; of a frame with `method`, the runtime's identification of
	 * the function. */
	uint64_t address;
	/* The address is none that a call returns to: name it without subtracting 1. */
	bool exact;
	/* The runtime names this frame, not the code at the address (HotSpot: address is a Method*). */
	bool method;
	/* Set by `step` if the step leaves no frame (a return barrier of virtual threads); walk_stack drops it. */
	bool omitted;
};

struct walk_code;

/* One way to step out of a frame. */
struct unwinder {
	const char *name;
	/* Moves state from a frame in `code` to its caller and returns UNWIND_MORE, or leaves state and returns the
	 * reason of the end. *frame describes the frame that is left; the walker has filled it for native code.
	 * `leaf`: state is as unwind_start left it. */
	enum unwind_end (*step)(struct unwind_state *state, const struct walk_code *code, bool leaf,
				struct walk_frame *frame);
};

/* For code without unwind tables: made at run time, or of a file that has none. */
extern const struct unwinder unwinder_frame_pointer;
/* For code of files with .eh_frame or .debug_frame; uses `tables`. */
extern const struct unwinder unwinder_cfi;

/* The code that a frame is in. */
struct walk_code {
	const struct unwinder *unwinder;
	struct unwind_code tables; /* unwinder_cfi */
	/* Of the unwinder of a runtime: its view of the process, and the code blob. Both must stay until the next
	 * call of `find`. */
	const void *runtime, *blob;
	/* The address is in a known mapping. */
	bool mapped;
	/* The tables or the runtime's data exist perhaps, but not in time. */
	bool late;
	/* The code at the address has been replaced since the sample: the stack ends here. */
	bool gone;
};

struct walk {
	/* ---- set by the owner ---- */
	/* Fills *code, which is zero but for unwinder_frame_pointer, for the frame at `state`. Returns false if the
	 * walk must be repeated later; walk_stack then returns false, too. */
	bool (*find)(void *owner, const struct walk *walk, const struct unwind_state *state, struct walk_code *code);
	void *owner;
	/* Frames at most; deeper stacks end with UNWIND_MORE. */
	size_t max;
	/* Repeat the walk with unwind_state.assume_leaf where frame pointers lead to no root from code that its
	 * file's tables leave out (assembly); the result counts only if it reaches the root by tables alone. */
	bool retry_leaf;

	/* ---- the result, until the next walk ---- */
	struct walk_frame *frame; /* leaf first */
	size_t n;
	enum unwind_end end;
	/* At least one frame was left by frame pointers, had late data, was a frame of a runtime. */
	bool frame_pointers, late, runtime;
	struct walk_code last; /* the code of the outermost frame */

	/* ---- while walking, for `find` ---- */
	bool leaf;    /* the frame is the innermost one */
	bool omitted; /* the frame before was omitted: frame pointers do not lead from there to here */

	size_t capacity;
};

/* Walks from state, which unwind_start filled, until the stack ends, and sets the result in *walk. Returns false if
 * `find` did. state is then, and after a walk, that of the last step. The stack is hostile: the walk ends after at most
 * `max` frames. */
bool walk_stack(struct walk *walk, struct unwind_state *state);

/* Frees what *walk owns: its frames. */
void walk_release(struct walk *walk);

/* Counts the stack of the last walk as complete, truncated or broken, with the reason, and by the kinds of code in it.
 * copied: the sample has a copy of the stack, so that its end can be a truncation. */
void walk_count(const struct walk *walk, bool copied, struct pj_unwinding *counts);

/* Prints the end of an incomplete stack of a process if PJ_DEBUG=unwind. */
void walk_debug(const struct walk *walk, uint32_t pid);

/* Returns the address whose code the frame at state runs: of a return address, that of the call. */
static inline uint64_t walk_code_address(const struct unwind_state *state)
{
	return state->interrupted || state->ip == 0 ? state->ip : state->ip - 1;
}

/* The same for a frame, to look up its name. */
static inline uint64_t walk_frame_lookup(const struct walk_frame *frame)
{
	return frame->exact || frame->address == 0 ? frame->address : frame->address - 1;
}

#endif
