/* Frames, names and lines of real CPythons against what sys._getframe() prints: each version of this machine, stopped
 * in stacks that are known. */
/* covers: runtimes/cpython/cpython.c runtimes/cpython/pycheck.c runtimes/cpython/pyframes.c runtimes/cpython/pycode.c
 */
/* covers: runtimes/cpython/pystring.c runtimes/cpython/pylayout.c runtimes/cpython/pyeval.c runtimes/memory/livecopy.c
 */
#include "test/lib/pythons.h"

#include "common/text.h"
#include "runtimes/memory/livecopy.h"

#include <stdlib.h>

static struct cpython_stack stack;
static struct threadcopy *copy;

static const struct {
	const char *mode;
	unsigned depth, stops;
} programs[] = {
	{ "deep", 2, 1 },   { "deep", 123, 1 },     { "deep", 1997, 1 },    { "sorted", 0, 1 },
	{ "cross", 30, 1 }, { "generators", 0, 2 }, { "exceptions", 0, 1 }, { "init", 0, 1 },
	{ "init", 1, 40 },  { "special", 0, 2 },    { "coroutine", 0, 1 },  { "names", 0, 1 },
	{ "odd", 0, 1 },    { "large", 0, 1 },      { "threads", 0, 1 },    { "import", 0, 1 },
};

/* Appends the frames of one thread as truth.py prints them. Counts frames of c_* and p_* functions with the wrong
 * border. */
static void show_thread(struct cpython *cpython, const struct cpython_thread *thread, struct text *text,
			unsigned *borders, bool *truncated)
{
	struct threadplan plan;
	enum cpython_end end;

	cpython_plan(&cpython->layout, &plan);
	livecopy_read(cpython->memory, &plan, thread->state, copy, THREADCOPY_BYTES);
	end = cpython_frames(&cpython->layout, copy, &stack);
	text_printf(text, "thread %u\n", thread->tid);
	/* Before 3.11 each frame is an object of some 500 bytes, and the maximum of a copy ends deep stacks. */
	if (end == CPYTHON_TRUNCATED && copy->end == THREADCOPY_LIMIT && cpython->layout.version < 11 && stack.n >= 400)
		*truncated = true;
	else if (end != CPYTHON_COMPLETE)
		text_printf(text, "end %d after %u frames\n", (int)end, stack.n);
	for (uint32_t i = 0; i < stack.n; i++) {
		const struct cpython_frame *frame = &stack.frame[i];
		struct cpython_code code;
		enum cpython_code_answer answer = cpython_code(cpython, frame, &code);
		const char *function = strrchr(code.name, '.');

		if (answer == CPYTHON_CODE_INTERNAL)
			continue;
		if (answer != CPYTHON_CODE_READ || !cpython_instruction(&cpython->layout, &code, frame)) {
			text_printf(text, "? %d\n", (int)answer);
			continue;
		}
		text_printf(text, "%s\t%s\t%u\n", code.name, code.file, cpython_line(cpython, &code, frame));
		if (strncmp(function, ".c_", 3) == 0 && !frame->entry)
			++*borders;
		if (strncmp(function, ".p_", 3) == 0 && frame->entry && cpython->layout.version >= 11)
			++*borders;
	}
}

/* Returns true if the text of each thread is a part of the truth, and all of the truth's threads are there. */
static bool is_truth(struct pythonrun *run, struct cpython *cpython, unsigned *borders)
{
	static struct cpython_thread thread[64];
	size_t n = cpython_threads(cpython, thread, 64), have = 0;
	bool good = true, truncated = false;

	for (size_t i = 0; i < n; i++) {
		struct text text = { 0 };

		show_thread(cpython, &thread[i], &text, borders, &truncated);
		text_char(&text, '\0');
		have += text.n - 1;
		if (!strstr(run->out, text.p)) {
			good = false;
			printf("# got:\n# %s\n# of:\n%s\n", text.p, run->out);
		}
		text_free(&text);
	}
	return good && (truncated || have == run->n - 4);
}

static void one_program(const struct python *python, size_t which)
{
	struct pythonrun run;
	struct cpython cpython;
	unsigned borders = 0;
	char what[400];
	bool good = python_run(python, programs[which].mode, programs[which].depth, &run);
	enum cpython_answer answer = good ? python_open(&run, &cpython) : CPYTHON_UNREADABLE;

	if (answer != CPYTHON_OPEN)
		printf("# %d: %s\n", (int)answer, good ? cpython.why : "it does not run");
	for (unsigned i = 0; good && answer == CPYTHON_OPEN && i < programs[which].stops; i++) {
		good = i == 0 || python_next(&run);
		memory_forget(&run.memory);
		good = good && is_truth(&run, &cpython, &borders);
	}
	snprintf(what, sizeof(what), "%s %s %u: frames, names and lines", python->name, programs[which].mode,
		 programs[which].depth);
	ok(good && answer == CPYTHON_OPEN, what);
	if (!ok(borders == 0, "  and borders of functions that C calls"))
		printf("# %u wrong\n", borders);
	python_end(&run);
}

int main(void)
{
	struct python python[PYTHONS_MAX];
	size_t n = pythons_find(python);

	copy = malloc(sizeof(*copy) + THREADCOPY_BYTES);
	if (n == 0)
		printf("ok # skip no CPython 3.8 or newer\n");
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof(programs) / sizeof(*programs); k++)
			one_program(&python[i], k);
	free(copy);
	return done();
}
