/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfrprint.h - the output of jfr print and jfr print --json: each event that has a stack is a sample.
 *
 * The event of a sample is the type of the JFR event; jdk.ExecutionSample is folded unless another one is selected. The
 * root frame is the name of the thread. JSON has the kind of code of each frame, the text has not. jfr prints 5 frames
 * of a stack unless --stack-depth is given: the outermost frame of a longer stack becomes [truncated].
 */
#ifndef PJ_JFRPRINT_H
#define PJ_JFRPRINT_H

#include "fold/foreign/foreignstack.h"
#include "fold/foreign/jsonlines.h"

struct jfrprint {
	struct foreignstack *stack;
	bool open, frames;  /* text format: an event is open; its stack is open */
	bool has_stack;     /* the open event has a stack */
	uint64_t truncated; /* number of stacks of which jfr did not print all frames */
	struct text type, thread;
	/* JSON format: members of the frame that is read. */
	struct text class, method;
	enum foreigncode code;
	struct text value;
	struct jsonlines json;
};

/* Prepares *jfr, which jfrprint_free() frees. Samples are added through `stack`, which must stay valid until then.
 * is_json: the input is from jfr print --json. */
void jfrprint_begin(struct jfrprint *jfr, struct foreignstack *stack, bool is_json);

/* Reads a line. Returns false if the line is malformed. */
bool jfrprint_line(struct jfrprint *jfr, struct str line);

void jfrprint_free(struct jfrprint *jfr);

#endif
