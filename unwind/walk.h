/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.h - the stack walker: computes the frames of a stack, leaf first, from registers and a stack copy.
 *
 * pjrecord walks stacks of live processes, pjfold walks recorded stack copies; both use this loop. The owner of a walk
 * finds the code at an address (callback `find`), and the unwinder of that code steps to the caller (callback `step`).
 * The unwinders for frame pointers and for call frame information are here; each language runtime has its own
 * (unwind/runtime.h).
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

/* Generated code that belongs to the eval function of an interpreter (hostframe.h). WALK_HOSTED: it runs in a frame of
 * the eval function. WALK_CALLED: the eval function called it. */
enum walk_generated { WALK_NOT_GENERATED, WALK_HOSTED, WALK_CALLED };

/* One frame of a walked stack. */
struct walk_frame {
	/* return address or interrupted address in the frame; if `method` is true, the runtime's id of the function */
	uint64_t address;
	/* value of the frame pointer register in the frame */
	uint64_t bp;
	/* value of the register walk.slot in the frame; 0 if unknown */
	uint64_t value;
	/* true if `address` is no return address, so that its name is looked up without subtracting 1 */
	bool exact;
	/* true if `address` is the runtime's id of the function and not a code address (HotSpot: a Method*) */
	bool method;
	/* true if `step` left a return barrier of virtual threads, which is no frame of the program: walk_stack leaves
	 * it out of the result */
	bool omitted;
	bool by_pointer;   /* true if an unwinder other than unwinder_frame_pointer has followed the frame pointer */
	uint8_t generated; /* enum walk_generated */
};

struct walk_code;

/* An unwinder: steps from a frame to its caller, for one kind of code. */
struct unwinder {
	/* name of the unwinder, for debug messages */
	const char *name;
	/* Moves *state from a frame in `code` to the caller and returns UNWIND_MORE. If there is no caller, preserves
	 * the registers in *state and returns the reason. *frame describes the frame before the step: walk_stack has
	 * filled it as for native code, and `step` may change it. leaf: true in the first step after unwind_start. */
	enum unwind_end (*step)(struct unwind_state *state, const struct walk_code *code, bool leaf,
				struct walk_frame *frame);
};

/* unwinder by frame pointers, for code without unwind tables: generated code, and files that have none */
extern const struct unwinder unwinder_frame_pointer;
/* unwinder by walk_code.tables, for code of files with .eh_frame or .debug_frame */
extern const struct unwinder unwinder_cfi;

/* The code of a frame, and the unwinder that steps out of it. */
struct walk_code {
	/* unwinder of the code */
	const struct unwinder *unwinder;
	struct unwind_code tables; /* unwind table of the file, for unwinder_cfi */
	/* runtime: view of the process, for the unwinder of a runtime; blob: code blob, for the unwinder of a runtime;
	 * both must exist until `find` is called again */
	const void *runtime, *blob;
	/* true if the address is in a known mapping */
	bool mapped;
	/* true if unwind table or runtime data may exist, but were not ready in time */
	bool late;
	/* true if other code has replaced the code at the address since the sample: the walk ends here */
	bool gone;
	/* true if the code belongs to V8 (walk_is_v8) and unwind_state.unproven was true before this frame */
	bool v8;
};

/* Parameters, result and state of stack walks. One struct serves for any number of walks, one after the other. */
struct walk {
	/* ---- parameters, set by the owner ---- */
	/* Finds the code of the frame at *state and fills *code. On entry, code->unwinder is unwinder_frame_pointer,
	 * and all other members are 0. Returns false if the walk must be repeated later; walk_stack then returns false,
	 * too. */
	bool (*find)(void *owner, const struct walk *walk, const struct unwind_state *state, struct walk_code *code);
	/* argument of `find` */
	void *owner;
	/* maximum number of frames; the walk of a deeper stack ends with UNWIND_MORE */
	size_t max;
	/* true permits a second walk with unwind_state.assume_leaf, if the first one has passed interrupted code
	 * without FDE (assembly) and has not ended at UNWIND_ROOT. The result of the second walk is used only if it
	 * reaches the root by tables alone. */
	bool retry_leaf;
	/* slot (processor.h) of the register whose values go to walk_frame.value; 0 means none */
	uint32_t slot;

	/* ---- result, valid until the next walk ---- */
	struct walk_frame *frame; /* n frames, leaf first */
	size_t n;
	/* reason why the stack ends */
	enum unwind_end end;
	/* frame_pointers: true if unwinder_frame_pointer stepped out of a frame; late: true if walk_code.late was true
	 * for a frame; runtime: true if a frame is in code of a runtime */
	bool frame_pointers, late, runtime;
	/* unproven: true if frame pointers led out of code that is not known to keep them; v8: true if walk_code.v8 was
	 * true for a frame. If unproven and not v8, a walk that ends at a root ends with UNWIND_UNKNOWN, not
	 * UNWIND_ROOT. */
	bool unproven, v8;
	struct walk_code last; /* code of the outermost frame */

	/* ---- state of the walk, for `find` ---- */
	bool leaf; /* true if the current frame is the leaf */
	/* true if the last step had walk_frame.omitted: frame pointers do not lead from that code to this frame */
	bool omitted;

	/* number of frames that `frame` has memory for */
	size_t capacity;
};

/* Walks the stack from *state, which unwind_start has filled, and stores the result in *walk. Returns false if `find`
 * returns false. Afterwards *state is the state at the outermost frame. The stack is hostile: the result has at most
 * walk->max frames. */
bool walk_stack(struct walk *walk, struct unwind_state *state);

/* Returns true if `path` is a file that contains V8: a program such as node, or its library. V8's generated code and
 * its builtins without FDE keep frame pointers. A hostile process may use the name for any file, but it may as well
 * have false unwind tables: both change only the stacks of that process. */
bool walk_is_v8(struct str path);

/* Frees the frames of *walk. */
void walk_release(struct walk *walk);

/* Counts the stack of the last walk in *counts: as complete, unknown, truncated or broken, with the reason, and by the
 * kinds of its code. copied: true if the sample has a stack copy, so that the stack can be truncated. */
void walk_count(const struct walk *walk, bool copied, struct pj_unwinding *counts);

/* With PJ_DEBUG=unwind, prints where and why the last walk ended if it did not reach the root. pid: process of the
 * stack. */
void walk_debug(const struct walk *walk, uint32_t pid);

/* Returns the address by which the code of the frame at *state is looked up: the interrupted address, or the return
 * address minus 1, which is in the call instruction. */
static inline uint64_t walk_code_address(const struct unwind_state *state)
{
	return state->interrupted || state->ip == 0 ? state->ip : state->ip - 1;
}

/* Returns the address by which the name of a frame is looked up: the return address minus 1, or an exact address. */
static inline uint64_t walk_frame_lookup(const struct walk_frame *frame)
{
	return frame->exact || frame->address == 0 ? frame->address : frame->address - 1;
}

#endif
