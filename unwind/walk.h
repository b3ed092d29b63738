/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.h - the stack walker: from registers and a copy of the stack to the frames of a stack, leaf first.
 *
 * pjrecord walks live processes, pjfold walks recorded stack copies, and both use this loop. The owner of a walk finds
 * the code at an address (`find`); the unwinder of that code leads to the caller (`step`). Frame pointers and call
 * frame information have their unwinders here; each language runtime brings its own (unwind/runtime.h).
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

/* One frame of a stack. */
struct walk_frame {
	/* Return address or interrupted address in the frame. If `method` is set: the runtime's identification of the
	 * function. */
	uint64_t address;
	/* value of the frame pointer register in the frame */
	uint64_t bp;
	/* value of the register walk.slot in the frame; 0: unknown */
	uint64_t value;
	/* true if the address is not a return address: it is named without subtracting 1 */
	bool exact;
	/* true if the runtime names this frame, instead of the code at the address (HotSpot: address is a Method*) */
	bool method;
	/* set by `step` if the step leaves no frame (return barrier of virtual threads); walk_stack leaves it out of
	 * the result */
	bool omitted;
};

struct walk_code;

/* A method of stepping from a frame to its caller, for one kind of code. */
struct unwinder {
	const char *name;
	/* Moves state from a frame in `code` to its caller and returns UNWIND_MORE; or preserves state and returns the
	 * reason why the stack ends. *frame describes the frame that is left; walk_stack has filled it for native code,
	 * and `step` may change it. `leaf`: this is the first step after unwind_start. */
	enum unwind_end (*step)(struct unwind_state *state, const struct walk_code *code, bool leaf,
				struct walk_frame *frame);
};

/* Steps by frame pointers, in code without unwind tables: made at run time, or of a file that has none. */
extern const struct unwinder unwinder_frame_pointer;
/* Steps by walk_code.tables, in code of files with .eh_frame or .debug_frame. */
extern const struct unwinder unwinder_cfi;

/* The code that a frame is in, and the unwinder that steps out of it. */
struct walk_code {
	const struct unwinder *unwinder;
	struct unwind_code tables; /* for unwinder_cfi: the unwind tables of the file */
	/* For the unwinder of a runtime: its view of the process, and the code blob. Both must exist until the next
	 * call of `find`. */
	const void *runtime, *blob;
	/* true if the address is in a known mapping */
	bool mapped;
	/* true if the unwind tables or the runtime's data may exist but were not ready in time */
	bool late;
	/* true if the code at the address has been replaced since the sample: the stack ends here */
	bool gone;
	/* The code is V8's own (walk_is_v8); needed only once unwind_state.unproven is set. */
	bool v8;
};

struct walk {
	/* ---- set by the owner ---- */
	/* Finds the code of the frame at `state` and fills *code, which is zero except for unwinder_frame_pointer.
	 * Returns false if the walk must be repeated later; walk_stack then returns false, too. */
	bool (*find)(void *owner, const struct walk *walk, const struct unwind_state *state, struct walk_code *code);
	void *owner;
	/* limit for the number of frames; the walk of a deeper stack ends with UNWIND_MORE */
	size_t max;
	/* Allows a second walk with unwind_state.assume_leaf, if frame pointers led to no root from code for which its
	 * file's tables have no FDE (assembly). The second result counts only if it reaches the root by tables
	 * alone. */
	bool retry_leaf;
	/* slot (processor.h) of the register whose values are in walk_frame.value; 0: none */
	uint32_t slot;

	/* ---- the result, until the next walk ---- */
	struct walk_frame *frame; /* frames, leaf first */
	size_t n;
	enum unwind_end end;
	/* true if at least one frame was left by frame pointers; had late data (walk_code.late); was a frame of a
	 * runtime */
	bool frame_pointers, late, runtime;
	/* At least one frame was left by frame pointers, in code that is not known to keep them; code of V8 was passed
	 * later. Without the latter, a walk that ends at a root has UNWIND_UNKNOWN for UNWIND_ROOT. */
	bool unproven, v8;
	struct walk_code last; /* the code of the outermost frame */

	/* ---- while walking, for `find` ---- */
	bool leaf; /* the current frame is the leaf frame */
	/* the step before left no frame (walk_frame.omitted): frame pointers do not lead from there to here */
	bool omitted;

	size_t capacity;
};

/* Walks a stack from state, which unwind_start has filled, and sets the result in *walk. Returns false if `find` did.
 * state is afterwards that of the last step. The stack is hostile: the walk ends after at most `max` frames. */
bool walk_stack(struct walk *walk, struct unwind_state *state);

/* Returns true for the path of a file with V8: a program like node, or its library. The code that V8 generates, and its
 * builtins without FDE, keep frame pointers. A process may have any file under this name, but it could as well have
 * false unwind tables: either changes only the stacks of that process. */
bool walk_is_v8(struct str path);

/* Frees what *walk owns: its frames. */
void walk_release(struct walk *walk);

/* Counts the stack of the last walk as complete, unknown, truncated or broken, with the reason, and by the kinds of
 * code in it. copied: the sample has a copy of the stack, so that its end can be a truncation. */
void walk_count(const struct walk *walk, bool copied, struct pj_unwinding *counts);

/* With PJ_DEBUG=unwind, prints where and why the last walk ended if the stack of process pid is incomplete. */
void walk_debug(const struct walk *walk, uint32_t pid);

/* Returns the address of the code that the frame at state runs: the interrupted address, or an address in the call
 * before a return address. */
static inline uint64_t walk_code_address(const struct unwind_state *state)
{
	return state->interrupted || state->ip == 0 ? state->ip : state->ip - 1;
}

/* Like walk_code_address, for a frame of the result: the address to look up its name. */
static inline uint64_t walk_frame_lookup(const struct walk_frame *frame)
{
	return frame->exact || frame->address == 0 ? frame->address : frame->address - 1;
}

#endif
