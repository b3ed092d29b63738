/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/pjsection.h"
#include "record/interpreters/interpreter.h"
#include "runtimes/cpython/cpython.h"

#include <stdio.h>

static enum interpreter_answer python_open(void *state, struct memory *memory,
					   const struct interpreter_candidate *candidate, char *why)
{
	struct cpython *cpython = state;
	struct cpython_candidate file = { .base = candidate->base, .path = candidate->path };
	enum cpython_answer answer = cpython_open(cpython, memory, &file);

	snprintf(why, INTERPRETER_WHY, "%s", answer == CPYTHON_OPEN ? "" : cpython->why);
	switch (answer) {
	case CPYTHON_OPEN: return INTERPRETER_OPEN;
	case CPYTHON_OTHER_FILE: return INTERPRETER_OTHER;
	case CPYTHON_EARLY: return INTERPRETER_EARLY;
	default: return INTERPRETER_REFUSED;
	}
}

static void python_plan(const void *state, struct threadplan *plan)
{
	const struct cpython *cpython = state;

	cpython_plan(&cpython->layout, plan);
}

static size_t python_evals(const void *state, struct onestack_range range[INTERPRETER_EVALS_MAX])
{
	const struct cpython *cpython = state;
	size_t n = 0;

	_Static_assert((int)EVALCODE_RANGES_MAX <= (int)INTERPRETER_EVALS_MAX, "all ranges fit");
	for (; n < cpython->eval.n && n < EVALCODE_RANGES_MAX; n++)
		range[n] = (struct onestack_range){ .start = cpython->eval.range[n].start,
						    .end = cpython->eval.range[n].end,
						    .code = ONESTACK_EVAL };
	return n;
}

static size_t python_threads(void *state, struct interpreter_thread *thread, size_t cap)
{
	static struct cpython_thread found[INTERPRETER_THREADS_MAX];
	size_t n = cpython_threads(state, found, cap < INTERPRETER_THREADS_MAX ? cap : INTERPRETER_THREADS_MAX);

	for (size_t i = 0; i < n; i++)
		thread[i] = (struct interpreter_thread){ .root = found[i].state, .tid = found[i].tid };
	return n;
}

static enum interpreter_end python_frames(void *state, const struct threadcopy *copy, struct interpreter_list *list)
{
	static struct cpython_stack stack;
	const struct cpython *cpython = state;
	enum cpython_end end = cpython_frames(&cpython->layout, copy, &stack);

	_Static_assert((int)CPYTHON_FRAMES_MAX <= (int)INTERPRETER_FRAMES_MAX, "all frames fit");
	list->n = end == CPYTHON_NO_FRAME || end == CPYTHON_IMPOSSIBLE ? 0 : stack.n;
	for (uint32_t i = 0; i < list->n; i++)
		list->frame[i] = (struct interpreter_frame){ .code = stack.frame[i].code,
							     .scope = stack.frame[i].globals,
							     .instruction = stack.frame[i].instruction,
							     .frame = stack.frame[i].frame,
							     .copied = stack.frame[i].copied,
							     .entry = stack.frame[i].entry,
							     .kind = stack.frame[i].owner };
	switch (end) {
	case CPYTHON_COMPLETE:
	case CPYTHON_NO_FRAME: return INTERPRETER_COMPLETE;
	case CPYTHON_TRUNCATED: return INTERPRETER_TRUNCATED;
	default: return INTERPRETER_IMPOSSIBLE;
	}
}

/* Returns true if the file name stands for a string from which code was compiled, such as "<string>". The modules built
 * into CPython are "<frozen ...>". */
static bool python_is_text(struct str file)
{
	return str_starts(file, STR("<")) && !str_starts(file, STR("<frozen "));
}

static enum interpreter_named python_describe(void *state, const struct interpreter_frame *frame,
					      struct interpreter_place *place, struct text *text)
{
	struct cpython *cpython = state;
	struct cpython_frame python = { .frame = frame->frame,
					.code = frame->code,
					.globals = frame->scope,
					.instruction = frame->instruction,
					.entry = frame->entry,
					.owner = frame->kind };
	struct cpython_code code;
	enum cpython_code_answer answer = cpython_code(cpython, &python, &code);

	if (answer == CPYTHON_CODE_INTERNAL)
		return INTERPRETER_INTERNAL;
	place->address = answer == CPYTHON_CODE_READ ? cpython_instruction(&cpython->layout, &code, &python) : 0;
	if (!place->address)
		return INTERPRETER_UNNAMED;
	place->line = cpython_line(cpython, &code, &python);
	place->from_text = python_is_text(str_of(code.file));
	text_bytes(text, code.name, strlen(code.name) + 1);
	text_bytes(text, code.file, strlen(code.file) + 1);
	return INTERPRETER_NAMED;
}

static uint64_t python_identify(void *state, const struct interpreter_frame *frame)
{
	const struct cpython_frame python = { .code = frame->code, .copied = frame->copied };

	return cpython_identify(state, &python);
}

const struct interpreter interpreter_python = {
	.name = "Python",
	.language = PJ_LANGUAGE_PYTHON,
	.deferrable = true,
	.pinned = true,
	.size = sizeof(struct cpython),
	.is_library = cpython_is_library,
	.open = python_open,
	.plan = python_plan,
	.evals = python_evals,
	.threads = python_threads,
	.frames = python_frames,
	.describe = python_describe,
	.identify = python_identify,
};
