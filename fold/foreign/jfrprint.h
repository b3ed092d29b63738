/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfrprint.h - the output of jfr print and jfr print --json: each event that has a stack is a sample.
 *
 * The event of the sample is the type, jdk.ExecutionSample unless another is selected; the first frame is the name of
 * the thread. JSON has the kind of code of each frame, the text has not. jfr prints 5 frames of a stack unless
 * --stack-depth is given: the outermost frame of a longer one is [truncated].
 */
#ifndef PJ_JFRPRINT_H
#define PJ_JFRPRINT_H

#include "fold/foreign/foreignstack.h"
#include "fold/foreign/jsonlines.h"

struct jfrprint {
	struct foreignstack *stack;
	bool open, frames;  /* text: in an event, in its stack */
	bool has_stack;     /* the event has one */
	uint64_t truncated; /* stacks with more frames than were printed */
	struct text type, thread;
	/* JSON: the current frame. */
	struct text class, method;
	enum foreigncode code;
	struct text value;
	struct jsonlines json;
};

/* stack: where samples go; it must stay. */
void jfrprint_begin(struct jfrprint *jfr, struct foreignstack *stack, bool is_json);

/* Takes a line. Returns false if it is not understood. */
bool jfrprint_line(struct jfrprint *jfr, struct str line);

void jfrprint_free(struct jfrprint *jfr);

#endif
