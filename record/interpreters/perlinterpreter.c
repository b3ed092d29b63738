/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/pjsection.h"
#include "record/interpreters/interpreter.h"
#include "runtimes/perl/perl.h"

#include <stdio.h>
#include <string.h>

static enum interpreter_answer perlinterpreter_open(void *state, struct memory *memory,
						    const struct interpreter_candidate *candidate, char *why)
{
	struct perl *perl = state;
	enum perl_answer answer = perl_open(perl, memory, candidate->base);

	snprintf(why, INTERPRETER_WHY, "%s", answer == PERL_OPEN ? "" : perl->why);
	switch (answer) {
	case PERL_OPEN: return INTERPRETER_OPEN;
	case PERL_OTHER_FILE: return INTERPRETER_OTHER;
	case PERL_EARLY: return INTERPRETER_EARLY;
	default: return INTERPRETER_REFUSED;
	}
}

static void perlinterpreter_plan(const void *state, struct threadplan *plan)
{
	const struct perl *perl = state;

	perl_plan(&perl->layout, plan);
}

static size_t perlinterpreter_evals(const void *state, struct onestack_range range[INTERPRETER_EVALS_MAX])
{
	const struct perl *perl = state;
	size_t n = 0;

	_Static_assert((int)(EVALCODE_RANGES_MAX + PERL_CATCHES_MAX) <= (int)INTERPRETER_EVALS_MAX, "all ranges fit");
	for (uint32_t i = 0; i < perl->eval.n && i < EVALCODE_RANGES_MAX; i++)
		range[n++] = (struct onestack_range){ .start = perl->eval.range[i].start,
						      .end = perl->eval.range[i].end,
						      .code = ONESTACK_EVAL };
	for (uint32_t i = 0; i < perl->ncatching && i < PERL_CATCHES_MAX; i++)
		range[n++] = (struct onestack_range){ .start = perl->catching[i].start,
						      .end = perl->catching[i].end,
						      .code = ONESTACK_CATCH };
	return n;
}

/* Lists only the main thread, which runs the first interpreter of the process. Threads of Perl's `threads` module have
 * interpreters of their own, which are not listed. */
static size_t perlinterpreter_threads(void *state, struct interpreter_thread *thread, size_t cap)
{
	const struct perl *perl = state;

	if (cap == 0)
		return 0;
	*thread = (struct interpreter_thread){ .root = perl->interpreter, .tid = INTERPRETER_MAIN_THREAD };
	return 1;
}

/* Bit of interpreter_frame.scope: the frame is between two runs. The other bits are the kind of the frame. */
enum { BETWEEN_RUNS = 256 };

static enum interpreter_end perlinterpreter_frames(void *state, const struct threadcopy *copy,
						   struct interpreter_list *list)
{
	static struct perl_stack stack;
	const struct perl *perl = state;
	enum perl_end end = perl_frames(perl, copy, &stack);

	_Static_assert((int)PERL_FRAMES_MAX <= (int)INTERPRETER_FRAMES_MAX, "all frames fit");
	list->n = end == PERL_IMPOSSIBLE ? 0 : stack.n;
	for (uint32_t i = 0; i < list->n; i++) {
		const struct perl_frame *frame = &stack.frame[i];

		list->frame[i] =
			(struct interpreter_frame){ .code = frame->code,
						    .scope = frame->kind | (frame->between ? BETWEEN_RUNS : 0u),
						    .instruction = frame->cop,
						    .frame = frame->context,
						    .entry = frame->entry,
						    .kind = frame->kind };
	}
	switch (end) {
	case PERL_COMPLETE: return INTERPRETER_COMPLETE;
	case PERL_TRUNCATED: return INTERPRETER_TRUNCATED;
	default: return INTERPRETER_IMPOSSIBLE;
	}
}

static enum interpreter_named perlinterpreter_describe(void *state, const struct interpreter_frame *frame,
						       struct interpreter_place *place, struct text *text)
{
	const struct perl_frame perl = { .context = frame->frame,
					 .code = frame->code,
					 .cop = frame->instruction,
					 .entry = frame->entry,
					 .kind = frame->kind };
	struct perl_function function;

	if (!perl_function(state, &perl, &function))
		return INTERPRETER_UNNAMED;
	*place = (struct interpreter_place){ .address = function.address,
					     .line = function.line,
					     .first = frame->scope & BETWEEN_RUNS };
	text_bytes(text, function.name, strlen(function.name) + 1);
	text_bytes(text, function.file, strlen(function.file) + 1);
	return INTERPRETER_NAMED;
}

const struct interpreter interpreter_perl = {
	.name = "Perl",
	.language = PJ_LANGUAGE_PERL,
	.frames_lead = true,
	.pinned = true,
	.size = sizeof(struct perl),
	.is_library = perl_is_library,
	.open = perlinterpreter_open,
	.plan = perlinterpreter_plan,
	.evals = perlinterpreter_evals,
	.threads = perlinterpreter_threads,
	.frames = perlinterpreter_frames,
	.describe = perlinterpreter_describe,
};
