/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreignstack.h - one stack of another profiler's text, collected line by line, then added as a sample.
 *
 * Many of these texts print the process and the count after the frames. So frames are stored as text, leaf first; when
 * the sample is complete they get their names (fold/names/) and go to samples.h. A stack has a budget of frames and
 * bytes: frames beyond are dropped, and the outermost frame is [truncated].
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

/* A frame as the text describes it; empty members are not known. address: hexadecimal digits. */
struct foreignframe {
	struct str symbol, dso, address;
	enum foreigncode code;
};

/* The same with positions in `text`. */
struct foreignslot {
	size_t symbol, dso, address, end;
	enum foreigncode code;
};

struct foreignstack {
	struct samples *samples;
	struct text text;
	struct foreignslot *frame; /* leaf first */
	size_t n, cap;
	bool truncated; /* frames are missing at the outer end */
};

/* Forgets the collected frames. */
void foreignstack_clear(struct foreignstack *stack);

/* Adds the caller of the frames so far. Copies its texts. */
void foreignstack_frame(struct foreignstack *stack, struct foreignframe frame);

/* Marks frames [from, n) up to the outermost entry of the kernel among them (entry_SYSCALL_64_after_hwframe and the
 * like) as kernel code. Returns the number of frames that are kernel code now. */
size_t foreignstack_find_kernel(struct foreignstack *stack, size_t from);

/* Moves the frames [from, n) to the leaf end. */
void foreignstack_move_to_leaf(struct foreignstack *stack, size_t from);

/* Adds the collected frames as a sample, and forgets them. */
void foreignstack_add(struct foreignstack *stack, const struct sample_key *key);

void foreignstack_free(struct foreignstack *stack);

#endif
