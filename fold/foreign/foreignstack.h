/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreignstack.h - collects one stack from the text of another profiler, line by line, then adds it as a sample.
 *
 * In many of these texts the process and the count follow the frames. Frames are therefore stored as text, leaf first.
 * When the sample is complete, this module makes the names of the frames (fold/names/) and adds the sample (samples.h).
 * A stack is limited to 4,096 frames and 1 MiB of text: further frames are dropped, and the outermost frame becomes
 * [truncated].
 *
 * 	foreignstack_clear(&stack);
 * 	foreignstack_frame(&stack, (struct foreignframe){ .symbol = STR("main") });
 * 	foreignstack_add(&stack, &key);
 */
#ifndef PJ_FOREIGNSTACK_H
#define PJ_FOREIGNSTACK_H

#include "common/text.h"
#include "fold/samples/samples.h"

/* Kind of code of a frame. NATIVE: native code. KERNEL: kernel code. METHOD: a Java method, interpreted or compiled:
 * the text does not distinguish these. COMPILED: code compiled at run time. INLINED: a function inlined into its
 * caller. INTERPRETED: a function that an interpreter ran. */
enum foreigncode {
	FOREIGN_NATIVE,
	FOREIGN_KERNEL,
	FOREIGN_METHOD,
	FOREIGN_COMPILED,
	FOREIGN_INLINED,
	FOREIGN_INTERPRETED,
};

/* A frame as the text describes it. Members that the text lacks are empty. address: hex digits. */
struct foreignframe {
	struct str symbol, dso, address;
	enum foreigncode code;
};

/* A stored frame: offsets of its symbol, DSO and address in foreignstack.text. Each string ends at the next offset; the
 * address ends at `end`. */
struct foreignslot {
	size_t symbol, dso, address, end;
	enum foreigncode code;
};

struct foreignstack {
	struct samples *samples;
	struct text text;
	struct foreignslot *frame; /* n frames, leaf first */
	size_t n, cap;
	/* true if the outermost frames are missing; the sample then gets the outermost frame [truncated] */
	bool truncated;
};

/* Removes all collected frames. */
void foreignstack_clear(struct foreignstack *stack);

/* Adds a frame, which is the caller of the frame that was added last. Copies the strings of `frame`. */
void foreignstack_frame(struct foreignstack *stack, struct foreignframe frame);

/* Marks the frames from index `from` to the outermost kernel entry, such as entry_SYSCALL_64_after_hwframe, as kernel
 * code. Returns the number of marked frames; 0 if no frame is a kernel entry. */
size_t foreignstack_find_kernel(struct foreignstack *stack, size_t from);

/* Moves the frames with an index of at least `from` to the start of the array, the leaf end. */
void foreignstack_move_to_leaf(struct foreignstack *stack, size_t from);

/* Adds a sample with the collected frames, then removes the frames. key: thread, event and weight of the sample. */
void foreignstack_add(struct foreignstack *stack, const struct sample_key *key);

void foreignstack_free(struct foreignstack *stack);

#endif
