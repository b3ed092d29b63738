/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onestack.h - puts the frames of an interpreter at their places between the native frames of a stack.
 *
 * The eval function of an interpreter runs several interpreted frames in one activation, and calls itself, by way
 * of other native code, for others. So the list of interpreted frames consists of segments: the outermost frame of each
 * is an entry frame. Each activation in the native stack is replaced by its segment.
 *
 * If the native walk reached a root, activations and segments are matched one to one. An innermost activation that has
 * just been entered, or is about to return, has no segment: it stays native. If the native copy was truncated, both are
 * matched from the innermost on, and the segments that remain follow: then the stack has all interpreted frames, but
 * not all native ones between them. If the numbers do not match, nothing is merged. A pure function.
 */
#ifndef PJ_ONESTACK_H
#define PJ_ONESTACK_H

#include "unwind/walk.h"

/* Code of the eval function: [start, end). */
struct onestack_range {
	uint64_t start, end;
};

/* An interpreted frame: the address that stands for it in the callchain. entry: it is the outermost one of its
 * activation. */
struct onestack_frame {
	uint64_t address;
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
