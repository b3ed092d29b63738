/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onestack.h - merges the frames of an interpreter into the native stack, so that each interpreted frame is between the
 * native frames that called it and that it called.
 *
 * One activation of an interpreter's eval function runs several interpreted frames. The eval function also calls
 * itself, through other native code, and each call is a further activation. So the list of interpreted frames consists
 * of segments, one for each activation; the outermost frame of a segment is an entry frame. Merging replaces each
 * activation in the native stack by its segment.
 *
 * If the native walk reached a root, activations and segments are matched one to one. An innermost activation that has
 * just begun, or is about to return, has no segment: it stays native. An innermost segment whose activation has not
 * begun is left out, as its code does not run yet. If the native stack is truncated, activations and segments are
 * matched from the innermost on, and the remaining segments are appended: then the stack has all interpreted frames,
 * but not all native frames between them. For a language whose frames begin before their activation and end before it
 * (frames_lead), neither activations without a segment nor truncated stacks are merged.
 *
 * If the numbers of activations and segments do not match, or the walk reached no root, a register may show the frame
 * that each activation runs (has_register). Then each activation is replaced by the segment that contains this frame.
 * An activation whose frame is in no segment stays native (PHP: its function has returned, and destructors of its
 * variables run). If neither the numbers nor the registers match, nothing is merged. All functions are pure.
 */
#ifndef PJ_ONESTACK_H
#define PJ_ONESTACK_H

#include "unwind/hostframe.h"

enum onestack_code {
	ONESTACK_EVAL,
	/* A function that the eval function calls to run its frames (Ruby: vm_exec_core). A native frame of such a
	 * function that an activation calls directly is a part of the activation. */
	ONESTACK_INNER,
	/* A function that switches the native stack (PHP: zend_fiber_switch_context). If such a function is on the
	 * stack, nothing is merged: native and interpreted frames may be of different stacks. */
	ONESTACK_SWITCH,
	/* A function by which the eval function calls itself to continue the same segment (Perl: docatch). Two
	 * activations are one if only frames of such functions are between them. */
	ONESTACK_CATCH,
	/* Generated code that runs in frames of the eval function (PHP), in this range. The other roles are then
	 * ONESTACK_HOST, an address in the eval function whose unwind rule holds for this code, and ONESTACK_CALLER,
	 * functions that call the eval function (unwind/hostframe.h). */
	ONESTACK_COMPILED,
	ONESTACK_HOST,
	ONESTACK_CALLER,
	/* The process may have generated code anywhere that the eval function calls (Ruby); the range is not used.
	 * Functions in the ranges ONESTACK_EVAL and ONESTACK_INNER call this code. */
	ONESTACK_CALLED
};

/* Address range [start, end) of the code of one function. */
struct onestack_range {
	uint64_t start, end;
	uint64_t code; /* role of the function, an enum onestack_code */
};

/* An interpreted frame. address: address that stands for the frame in the callchain. entry: true: the frame is the
 * outermost one of its activation. */
struct onestack_frame {
	uint64_t address;
	uint64_t frame; /* address of the frame in the memory of the process */
	bool entry;
};

struct onestack_lists {
	const struct walk_frame *native; /* frames of the native stack, innermost first */
	size_t nnative;
	enum unwind_end end; /* reason for which the native walk ended */
	const struct onestack_range *eval;
	size_t nevals;
	const struct onestack_frame *frame;
	size_t n;
	bool complete; /* true: the list of interpreted frames reaches to the outermost frame; false: it is truncated */
	/* True: if the leaf is an activation, it certainly runs the innermost interpreted frame. False: it may be
	 * between two frames. */
	bool leaf_sure;
	/* True: the innermost interpreted frame is an entry frame that has not run an instruction: its activation may
	 * not have begun (Ruby pushes the frame first), or has ended and the next one has not begun (Perl: sort). */
	bool entering;
	/* True: the native frames include all activations, although the walk reached no root. The numbers of
	 * activations and segments are then compared as for a walk that reached a root. */
	bool has_activations;
	/* Copy of interpreter.frames_lead; if true, the following holds. Without has_activations, a truncated stack is
	 * not merged, as the numbers do not show an activation whose frame is not in the list. An innermost activation
	 * never stays native, as another activation may be the one without a segment (PHP: a destructor of a function's
	 * variables). */
	bool frames_lead;
	/* True: walk_frame.value of an activation is the address of the interpreted frame that the activation runs,
	 * except in the first and last instructions of the eval function. */
	bool has_register;
	/* Returns true if a native frame that calls an activation is left out together with the activation, because the
	 * frame is a trampoline that only names the interpreted function (CPython -X perf). NULL: no frame is left out.
	 */
	bool (*is_trampoline)(const void *owner, const struct walk_frame *frame);
	const void *owner;
};

/* The merged stack. All members are zero before the first use. */
struct onestack {
	struct walk_frame *frame;
	size_t n, capacity;
	/* numbers of activations and segments in the lists, set even if they do not match */
	size_t activations, segments;
	bool by_register;    /* true: the lists were matched by the register (has_register), not by numbers */
	enum unwind_end end; /* UNWIND_ROOT also for a truncated native stack if all interpreted frames are in it */
};

/* Returns true if activations and segments match, so that onestack_merge would merge the lists. Does not use the
 * addresses of interpreted frames. */
bool onestack_matches(struct onestack *onestack, const struct onestack_lists *lists);

/* Merges the lists into *onestack, up to max frames; if there are more, end is UNWIND_MORE. Returns false if the lists
 * do not match; the contents of *onestack are then undefined. */
bool onestack_merge(struct onestack *onestack, const struct onestack_lists *lists, size_t max);

/* Appends a frame; if there are max frames already, sets end to UNWIND_MORE instead. */
void onestack_put(struct onestack *onestack, struct walk_frame frame, size_t max);

/* Sets *hostframe from the ranges of an interpreter, for unwinder_host_frame. The ranges may be invalid: then stacks
 * through the generated code are broken. Pure. */
void onestack_hostframe(struct hostframe *hostframe, const struct onestack_range *range, size_t n);

/* Frees the merged stack. */
void onestack_free(struct onestack *onestack);

#endif
