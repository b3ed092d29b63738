/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onestack.h - puts the frames of an interpreter at their places between the native frames of a stack.
 *
 * The eval function of an interpreter runs several interpreted frames in one activation, and calls itself, by way
 * of other native code, for others. So the list of interpreted frames consists of segments: the outermost frame of each
 * is an entry frame. Each activation in the native stack is replaced by its segment.
 *
 * If the native walk reached a root, activations and segments are matched one to one. An innermost activation that has
 * just been entered, or is about to return, has no segment: it stays native. An innermost segment whose activation has
 * not begun is left out: its code does not run yet. If the native copy was truncated, both are matched from the
 * innermost on, and the segments that remain follow: then the stack has all interpreted frames, but not all native ones
 * between them. A language whose frames begin before their activation and end before it (frames_lead) allows neither
 * activations without a segment nor truncated copies.
 *
 * If the numbers do not match, or the walk reached no root, a register may show the frame of each activation
 * (has_register): then each activation is replaced by the segment that has this frame, and one whose frame is in no
 * segment stays native (PHP: its function has returned, and destructors of its variables run). Otherwise nothing is
 * merged. A pure function.
 */
#ifndef PJ_ONESTACK_H
#define PJ_ONESTACK_H

#include "unwind/walk.h"

enum onestack_code {
	ONESTACK_EVAL,
	/* A function that the eval function calls to run its frames (Ruby: vm_exec_core): such a native frame directly
	 * inside of an activation belongs to the activation. */
	ONESTACK_INNER,
	/* A function that changes the native stack (PHP: zend_fiber_switch_context): in a stack with it, the lists may
	 * be those of two stacks, and do not match. */
	ONESTACK_SWITCH,
	/* Functions by which the eval function calls itself to run the same segment on (Perl: docatch): an activation
	 * that only they separate from the next one is the same as that. */
	ONESTACK_CATCH
};

/* Code of one function: [start, end). */
struct onestack_range {
	uint64_t start, end;
	uint64_t code; /* enum onestack_code */
};

/* An interpreted frame: the address that stands for it in the callchain. entry: it is the outermost one of its
 * activation. */
struct onestack_frame {
	uint64_t address;
	uint64_t frame; /* its address in the process */
	bool entry;
};

struct onestack_lists {
	const struct walk_frame *native; /* innermost first, as `frame` */
	size_t nnative;
	enum unwind_end end; /* end of the native walk */
	const struct onestack_range *eval;
	size_t nevals;
	const struct onestack_frame *frame;
	size_t n;
	bool complete; /* the list of interpreted frames has its outermost one */
	/* The leaf is known to run the innermost interpreted frame, if it is an activation: it is not between two
	 * frames. */
	bool leaf_sure;
	/* The innermost interpreted frame is an entry frame that has not run an instruction: its activation may not
	 * have begun (Ruby pushes the frame first), or it has ended and the next one has not begun (Perl: sort). */
	bool entering;
	/* The native frames have all activations, though the walk did not reach a root: the numbers are compared as if
	 * it had. */
	bool has_activations;
	/* struct interpreter.frames_lead: a truncated stack is not merged without has_activations, as the numbers do
	 * not show an activation whose frame is not in the list; and no innermost activation stays native, as another
	 * one may be that without a segment (PHP: a destructor of a function's variables). */
	bool frames_lead;
	/* walk_frame.value of an activation is the address of the interpreted frame that it runs, but for its first and
	 * last instructions. */
	bool has_register;
	/* Returns true if a native frame that calls an activation is left out with it: a trampoline that only names the
	 * interpreted function (CPython -X perf). NULL: none is. */
	bool (*is_trampoline)(const void *owner, const struct walk_frame *frame);
	const void *owner;
};

/* The merged stack; zero before the first use. */
struct onestack {
	struct walk_frame *frame;
	size_t n, capacity;
	size_t activations, segments; /* in the lists, also if they do not match */
	bool by_register;             /* the lists match by has_register */
	enum unwind_end end;          /* UNWIND_ROOT: all interpreted frames of a truncated stack are in it */
};

/* Returns true if the lists match: onestack_merge merges them. Addresses of interpreted frames are not used. */
bool onestack_matches(struct onestack *onestack, const struct onestack_lists *lists);

/* Merges the lists, up to max frames (then end is UNWIND_MORE). Returns false, and leaves *onestack without meaning, if
 * they do not match. */
bool onestack_merge(struct onestack *onestack, const struct onestack_lists *lists, size_t max);

/* Appends a frame, unless there are max of them: then end is UNWIND_MORE. */
void onestack_put(struct onestack *onestack, struct walk_frame frame, size_t max);

/* Frees the frames. */
void onestack_free(struct onestack *onestack);

#endif
