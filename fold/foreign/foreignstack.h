/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreignstack.h - one stack of another profiler's text, collected line by line, then added as a sample.
 *
 * Many of these texts print the process and the count after the frames. So frames are stored as text, leaf first; when
 * the sample is complete, this module makes their names (fold/names/) and adds the sample (samples.h). A stack has a
 * budget of 4,096 frames and 1 MiB: frames over budget are dropped, and the outermost frame becomes [truncated].
 *
 *	foreignstack_clear(&stack);
 *	foreignstack_frame(&stack, (struct foreignframe){ .symbol = STR("main") });
 *	foreignstack_add(&stack, &key);
 */
#ifndef PJ_FOREIGNSTACK_H
#define PJ_FOREIGNSTACK_H

#include "common/text.h"
#include "fold/samples/samples.h"

/* Kind of code of a frame. FOREIGN_METHOD: a Java method; whether it was compiled is not known. */
enum foreigncode {
	FOREIGN_NATIVE,
	FOREIGN_KERNEL,
	FOREIGN_METHOD,
	FOREIGN_COMPILED,
	FOREIGN_INLINED,
	FOREIGN_INTERPRETED,
};

/* A frame as the text describes it; members that the text lacks are empty. address: hexadecimal digits. */
struct foreignframe {
	struct str symbol, dso, address;
	enum foreigncode code;
};

/* A stored frame: offsets of its symbol, DSO and address in foreignstack.text, each of which ends where the next
 * begins; the address ends at `end`. */
struct foreignslot {
	size_t symbol, dso, address, end;
	enum foreigncode code;
};

struct foreignstack {
	struct samples *samples;
	struct text text;
	struct foreignslot *frame; /* n frames, leaf first */
	size_t n, cap;
	bool truncated; /* the outermost frames are missing */
};

/* Forgets the collected frames. */
void foreignstack_clear(struct foreignstack *stack);

/* Adds a frame, the caller of the one added before. Copies the strings of `frame`. */
void foreignstack_frame(struct foreignstack *stack, struct foreignframe frame);

/* Marks as kernel code the frames from index `from` up to the outermost one at which the kernel is entered
 * (entry_SYSCALL_64_after_hwframe and the like). Returns the number of marked frames. */
size_t foreignstack_find_kernel(struct foreignstack *stack, size_t from);

/* Moves the frames from index `from` on to the leaf end, before all others. */
void foreignstack_move_to_leaf(struct foreignstack *stack, size_t from);

/* Adds a sample with the collected frames, and forgets these. `key` has its thread, event and weight. */
void foreignstack_add(struct foreignstack *stack, const struct sample_key *key);

void foreignstack_free(struct foreignstack *stack);

#endif
