/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/pjsection.h"
#include "record/interpreters/interpreter.h"
#include "runtimes/ruby/ruby.h"

#include <stdio.h>

static enum interpreter_answer ruby_open_file(void *state, struct memory *memory,
					      const struct interpreter_candidate *candidate, char *why)
{
	struct ruby *ruby = state;
	struct ruby_candidate file = { .base = candidate->base, .path = candidate->path };
	enum ruby_answer answer = ruby_open(ruby, memory, &file);

	snprintf(why, INTERPRETER_WHY, "%s", answer == RUBY_OPEN ? "" : ruby->why);
	switch (answer) {
	case RUBY_OPEN: return INTERPRETER_OPEN;
	case RUBY_OTHER_FILE: return INTERPRETER_OTHER;
	case RUBY_EARLY: return INTERPRETER_EARLY;
	default: return INTERPRETER_REFUSED;
	}
}

static void ruby_plan_copy(const void *state, struct threadplan *plan)
{
	const struct ruby *ruby = state;

	ruby_plan(&ruby->layout, plan);
}

static size_t ruby_evals(const void *state, struct onestack_range range[INTERPRETER_EVALS_MAX])
{
	const struct ruby *ruby = state;
	size_t n = 0;

	_Static_assert((int)(2 * RUBY_RANGES_MAX + 1) <= (int)INTERPRETER_EVALS_MAX, "all ranges fit");
	_Static_assert((int)(2 * RUBY_RANGES_MAX) <= (int)HOSTFRAME_CALLERS_MAX, "all callers fit");
	for (uint32_t i = 0; i < ruby->neval && i < RUBY_RANGES_MAX; i++)
		range[n++] = (struct onestack_range){ .start = ruby->eval[i].start,
						      .end = ruby->eval[i].end,
						      .code = ONESTACK_EVAL };
	for (uint32_t i = 0; i < ruby->ninner && i < RUBY_RANGES_MAX; i++)
		range[n++] = (struct onestack_range){ .start = ruby->inner[i].start,
						      .end = ruby->inner[i].end,
						      .code = ONESTACK_INNER };
	/* YJIT may be enabled at any time (RubyVM::YJIT.enable). */
	if (ruby->layout.yjit)
		range[n++] = (struct onestack_range){ .code = ONESTACK_CALLED };
	return n;
}

static size_t ruby_list_threads(void *state, struct interpreter_thread *thread, size_t cap)
{
	static struct ruby_thread found[INTERPRETER_THREADS_MAX];
	size_t n = ruby_threads(state, found, cap < INTERPRETER_THREADS_MAX ? cap : INTERPRETER_THREADS_MAX);

	for (size_t i = 0; i < n; i++)
		thread[i] = (struct interpreter_thread){ .root = found[i].root, .tid = found[i].tid };
	return n;
}

/* Bit of interpreter_frame.scope: the frame is the innermost one. The other bits are the address of an environment or
 * of an object; bit 0 marks an environment. */
enum { INNERMOST = 2 };

static enum interpreter_end ruby_list_frames(void *state, const struct threadcopy *copy, struct interpreter_list *list)
{
	static struct ruby_stack stack;
	const struct ruby *ruby = state;
	enum ruby_end end = ruby_frames(&ruby->layout, copy, &stack);

	_Static_assert((int)RUBY_FRAMES_MAX <= (int)INTERPRETER_FRAMES_MAX, "all frames fit");
	list->stack_low = stack.low;
	list->stack_high = stack.high;
	list->n = end == RUBY_NO_FRAME || end == RUBY_IMPOSSIBLE ? 0 : stack.n;
	for (uint32_t i = 0; i < list->n; i++)
		list->frame[i] = (struct interpreter_frame){ .code = stack.frame[i].code,
							     .scope = stack.frame[i].scope |
								      (stack.frame[i].innermost ? INNERMOST : 0),
							     .instruction = stack.frame[i].pc,
							     .frame = stack.frame[i].frame,
							     .entry = stack.frame[i].entry,
							     .kind = stack.frame[i].kind };
	switch (end) {
	case RUBY_COMPLETE:
	case RUBY_NO_FRAME: return INTERPRETER_COMPLETE;
	case RUBY_TRUNCATED: return INTERPRETER_TRUNCATED;
	default: return INTERPRETER_IMPOSSIBLE;
	}
}

static enum interpreter_named ruby_describe(void *state, const struct interpreter_frame *frame,
					    struct interpreter_place *place, struct text *text)
{
	struct ruby_frame ruby = { .frame = frame->frame,
				   .code = frame->code,
				   .scope = frame->scope & ~(uint64_t)INNERMOST,
				   .innermost = frame->scope & INNERMOST,
				   .pc = frame->instruction,
				   .entry = frame->entry,
				   .kind = frame->kind };
	struct ruby_code code;

	if (!ruby_code(state, &ruby, &code)) {
		place->address = 0;
		return INTERPRETER_UNNAMED;
	}
	*place = (struct interpreter_place){ .address = code.address, .line = code.line, .first = code.first };
	text_bytes(text, code.name, strlen(code.name) + 1);
	text_bytes(text, code.file, strlen(code.file) + 1);
	return INTERPRETER_NAMED;
}

const struct interpreter interpreter_ruby = {
	.name = "Ruby",
	.language = PJ_LANGUAGE_RUBY,
	.frames_lead = true,
	/* not pinned: compaction, which runs in another thread, moves methods and strings */
	.size = sizeof(struct ruby),
	.is_library = ruby_is_library,
	.open = ruby_open_file,
	.plan = ruby_plan_copy,
	.evals = ruby_evals,
	.threads = ruby_list_threads,
	.frames = ruby_list_frames,
	.describe = ruby_describe,
};
