/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/pjsection.h"
#include "common/hash.h"
#include "record/interpreters/interpreter.h"
#include "runtimes/php/phpcompiled.h"

#include <stdio.h>
#include <string.h>

static enum interpreter_answer phpinterpreter_open(void *state, struct memory *memory,
						   const struct interpreter_candidate *candidate, char *why)
{
	struct php *php = state;
	enum php_answer answer = php_open(php, memory, candidate->base, candidate->maps);

	snprintf(why, INTERPRETER_WHY, "%s", answer == PHP_OPEN ? "" : php->why);
	switch (answer) {
	case PHP_OPEN: return INTERPRETER_OPEN;
	case PHP_OTHER_FILE: return INTERPRETER_OTHER;
	case PHP_EARLY: return INTERPRETER_EARLY;
	default: return INTERPRETER_REFUSED;
	}
}

static void phpinterpreter_plan(const void *state, struct threadplan *plan)
{
	const struct php *php = state;

	php_plan(&php->layout, plan);
}

/* Adds the ranges for code of the JIT compiler to range[0..n). Returns the new number of ranges. */
static size_t phpinterpreter_compiled(const struct php_compiled *compiled,
				      struct onestack_range range[INTERPRETER_EVALS_MAX], size_t n)
{
	range[n++] = (struct onestack_range){ .start = compiled->code.start,
					      .end = compiled->code.end,
					      .code = ONESTACK_COMPILED };
	range[n++] =
		(struct onestack_range){ .start = compiled->host, .end = compiled->host + 1, .code = ONESTACK_HOST };
	for (uint32_t i = 0; i < compiled->ncallers && i < PHP_CALLERS_MAX; i++)
		range[n++] = (struct onestack_range){ .start = compiled->caller[i].start,
						      .end = compiled->caller[i].end,
						      .code = ONESTACK_CALLER };
	return n;
}

static size_t phpinterpreter_evals(const void *state, struct onestack_range range[INTERPRETER_EVALS_MAX])
{
	const struct php *php = state;
	size_t n = 0;

	_Static_assert((int)(EVALCODE_RANGES_MAX + PHP_CALLERS_MAX + 3) <= (int)INTERPRETER_EVALS_MAX,
		       "all ranges fit");
	_Static_assert((int)PHP_CALLERS_MAX <= (int)HOSTFRAME_CALLERS_MAX, "all callers fit");
	for (; n < php->eval.n && n < EVALCODE_RANGES_MAX; n++)
		range[n] = (struct onestack_range){ .start = php->eval.range[n].start,
						    .end = php->eval.range[n].end,
						    .code = ONESTACK_EVAL };
	if (php->fiber_switch.end)
		range[n++] = (struct onestack_range){ .start = php->fiber_switch.start,
						      .end = php->fiber_switch.end,
						      .code = ONESTACK_SWITCH };
	if (php->compiled.code.end)
		n = phpinterpreter_compiled(&php->compiled, range, n);
	return n;
}

/* Lists only the main thread: in PHP without thread safety (ZTS), it runs all functions. A PHP library that runs in
 * another thread of a program does not match the main thread's native frames. */
static size_t phpinterpreter_threads(void *state, struct interpreter_thread *thread, size_t cap)
{
	if (cap == 0)
		return 0;
	*thread = (struct interpreter_thread){ .root = php_root(state), .tid = INTERPRETER_MAIN_THREAD };
	return 1;
}

enum { SCOPE_OUTERMOST = 1, SCOPE_INNERMOST = 2 };

/* Returns the state on which the name and line of a frame depend besides its function and instruction: the frame's
 * place, and a hash of the function's members. Another script may have its functions and instructions at the same
 * addresses, since each request begins with an empty heap. */
static uint64_t phpinterpreter_scope(const struct php_frame *frame)
{
	const struct php_code *code = &frame->code;
	const uint64_t member[] = { code->name, code->scope, code->opcodes, code->filename,
				    (uint64_t)code->first_line << 32 | code->last_line };
	uint64_t hash = code->type ? hash_bytes(member, sizeof(member)) : 0;

	return (hash & ~(uint64_t)(SCOPE_OUTERMOST | SCOPE_INNERMOST)) | (frame->outermost ? SCOPE_OUTERMOST : 0u) |
	       (frame->innermost ? SCOPE_INNERMOST : 0u);
}

/* Frames of the last copy. phpinterpreter_describe is called for some of these frames, in the same order. */
static struct php_stack stack;
static uint32_t described; /* index after the frame that was described last */

static enum interpreter_end phpinterpreter_frames(void *state, const struct threadcopy *copy,
						  struct interpreter_list *list)
{
	enum php_end end = php_frames(state, copy, &stack);

	_Static_assert((int)PHP_FRAMES_MAX <= (int)INTERPRETER_FRAMES_MAX, "all frames fit");
	described = 0;
	list->n = end == PHP_IMPOSSIBLE ? 0 : stack.n;
	for (uint32_t i = 0; i < list->n; i++) {
		const struct php_frame *frame = &stack.frame[i];

		list->frame[i] = (struct interpreter_frame){ .code = frame->function,
							     .scope = phpinterpreter_scope(frame),
							     .instruction = frame->instruction,
							     .frame = frame->frame,
							     .entry = frame->entry,
							     .kind = frame->kind };
	}
	switch (end) {
	case PHP_COMPLETE: return INTERPRETER_COMPLETE;
	case PHP_TRUNCATED: return INTERPRETER_TRUNCATED;
	default: return INTERPRETER_IMPOSSIBLE;
	}
}

static enum interpreter_named phpinterpreter_describe(void *state, const struct interpreter_frame *frame,
						      struct interpreter_place *place, struct text *text)
{
	struct php_function function;

	while (described < stack.n && stack.frame[described].frame != frame->frame)
		described++;
	if (described == stack.n || !php_function(state, &stack.frame[described++], &function))
		return INTERPRETER_UNNAMED;
	place->address = function.address;
	place->line = function.line;
	place->first = function.first;
	text_bytes(text, function.name, strlen(function.name) + 1);
	text_bytes(text, function.file, strlen(function.file) + 1);
	return INTERPRETER_NAMED;
}

const struct interpreter interpreter_php = {
	.name = "PHP",
	.language = PJ_LANGUAGE_PHP,
	.frames_lead = true,
	.frame_in_r14 = true,
	.pinned = true,
	.size = sizeof(struct php),
	.is_library = php_is_library,
	.is_compiled = phpcompiled_is_shared,
	.open = phpinterpreter_open,
	.plan = phpinterpreter_plan,
	.evals = phpinterpreter_evals,
	.threads = phpinterpreter_threads,
	.frames = phpinterpreter_frames,
	.describe = phpinterpreter_describe,
};
