/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfrprint.h - reads the output of jfr print and jfr print --json: each JFR event with a stack is a sample.
 *
 * The type of the JFR event is the event of the sample; jdk.ExecutionSample is folded unless another event is selected.
 * The root frame is the name of the thread. JSON contains the kind of code of each frame, text does not. jfr prints 5
 * frames of a stack unless --stack-depth is given: the outermost frame of a longer stack becomes [truncated].
 */
#ifndef PJ_JFRPRINT_H
#define PJ_JFRPRINT_H

#include "fold/foreign/foreignstack.h"
#include "fold/foreign/jsonlines.h"

struct jfrprint {
	struct foreignstack *stack;
	/* Text format. open: true if the next lines belong to an event. frames: true if the next lines are frames of
	 * its stack. */
	bool open, frames;
	bool has_stack;     /* true if the open event has a stack */
	uint64_t truncated; /* number of stacks that jfr printed without their outermost frames */
	struct text type, thread;
	/* JSON format: members of the frame that is being read. */
	struct text class, method;
	enum foreigncode code;
	struct text value;
	struct jsonlines json;
};

/* Initializes *jfr; jfrprint_free() frees it. Samples are added through `stack`, which must stay valid until then.
 * is_json: the input comes from jfr print --json. */
void jfrprint_begin(struct jfrprint *jfr, struct foreignstack *stack, bool is_json);

/* Reads a line. Returns false if the line is malformed. */
bool jfrprint_line(struct jfrprint *jfr, struct str line);

void jfrprint_free(struct jfrprint *jfr);

#endif
