/* SPDX-License-Identifier: Apache-2.0 */
#include "common/clocks.h"
#include "common/formats/pjsection.h"
#include "record/interpreters/interpreter.h"
#include "runtimes/v8/v8.h"

#include <stdio.h>

/* Time in ns after the sample from which on the frames of a stack copy are no longer used: the stack may by then point
 * to memory that holds other objects. */
#define LATE_NS UINT64_C(10000000)

static enum interpreter_answer js_open(void *state, struct memory *memory,
				       const struct interpreter_candidate *candidate, char *why)
{
	struct v8 *v8 = state;
	enum v8_answer answer = v8_open(v8, memory, candidate->base, candidate->maps);

	snprintf(why, INTERPRETER_WHY, "%s", answer == V8_OPEN ? "" : v8->why);
	switch (answer) {
	case V8_OPEN: return INTERPRETER_OPEN;
	case V8_OTHER_FILE: return INTERPRETER_OTHER;
	default: return INTERPRETER_REFUSED;
	}
}

static void js_plan(const void *state, struct threadplan *plan)
{
	(void)state;
	*plan = (struct threadplan){ .stack = 1 };
}

static size_t js_evals(const void *state, struct onestack_range range[INTERPRETER_EVALS_MAX])
{
	(void)state;
	(void)range;
	return 0;
}

static size_t js_threads(void *state, struct interpreter_thread *thread, size_t cap)
{
	(void)state;
	(void)thread;
	(void)cap;
	return 0;
}

/* Returns the address that stands for a frame in the callchain, in the form of struct pj_functions (pjsection.h); 0 for
 * an unproven frame. */
static uint64_t js_address(const struct v8_frame *frame)
{
	if (frame->kind == V8_INTERPRETED)
		return frame->address;
	if (frame->kind == V8_UNPROVEN)
		return 0;
	return frame->shared - 1 + (frame->kind == V8_INLINED ? 8 : 0);
}

static enum interpreter_end js_frames(void *state, const struct threadcopy *copy, struct interpreter_list *list)
{
	static const uint8_t tier[] = { [V8_INTERPRETED] = INTERPRETER_BYTECODE, [V8_BASELINE] = INTERPRETER_COMPILED,
					[V8_OPTIMIZED] = INTERPRETER_COMPILED,   [V8_BUILTIN] = INTERPRETER_COMPILED,
					[V8_INLINED] = INTERPRETER_INLINED,      [V8_UNPROVEN] = INTERPRETER_BYTECODE };
	static struct v8_frames frames;
	struct v8_stack stack = { .ip = copy->ip, .bp = copy->bp };

	_Static_assert((int)V8_FRAMES_MAX <= (int)INTERPRETER_FRAMES_MAX, "all frames fit");
	list->n = 0;
	if (copy->nareas != 1 || copy->area[0].offset > copy->nbytes ||
	    copy->area[0].n > copy->nbytes - copy->area[0].offset)
		return INTERPRETER_IMPOSSIBLE;
	stack.start = copy->area[0].address;
	stack.bytes = (struct str){ copy->bytes + copy->area[0].offset, copy->area[0].n };
	v8_frames(state, &stack, &frames);
	if (clock_now() > copy->time + LATE_NS)
		return INTERPRETER_LATE;
	if (frames.cut)
		/* the list lacks frames: with it, the stack would lack them without being counted as truncated */
		return INTERPRETER_IMPOSSIBLE;
	for (; list->n < frames.n; list->n++) {
		const struct v8_frame *frame = &frames.frame[list->n];

		list->frame[list->n] = (struct interpreter_frame){ .code = frame->shared,
								   .scope = frame->name,
								   .frame = frame->fp,
								   .pc = frame->pc,
								   .address = js_address(frame),
								   .kind = (uint8_t)frame->kind,
								   .entry = frame->calls_leaf,
								   .tier = tier[frame->kind] };
	}
	return INTERPRETER_COMPLETE;
}

static enum interpreter_named js_describe(void *state, const struct interpreter_frame *frame,
					  struct interpreter_place *place, struct text *text)
{
	struct v8_function function;

	if (frame->kind == V8_BUILTIN)
		return INTERPRETER_INTERNAL;
	if (frame->kind == V8_UNPROVEN || !v8_function(state, frame->code, &function))
		return INTERPRETER_UNNAMED;
	place->line = function.line;
	place->line_later = function.line_later;
	place->address = function.position;
	text_bytes(text, function.name, strlen(function.name) + 1);
	text_bytes(text, function.file, strlen(function.file) + 1);
	return INTERPRETER_NAMED;
}

const struct interpreter interpreter_javascript = {
	.name = "JavaScript",
	.language = PJ_LANGUAGE_JAVASCRIPT,
	.size = sizeof(struct v8),
	.is_library = v8_is_library,
	.open = js_open,
	.plan = js_plan,
	.evals = js_evals,
	.threads = js_threads,
	.frames = js_frames,
	.describe = js_describe,
};
