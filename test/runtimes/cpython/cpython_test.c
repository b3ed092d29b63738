/* Frames, names and lines of real CPythons against what sys._getframe() prints: each version of this machine, stopped
 * in stacks that are known. */
/* covers: runtimes/cpython/cpython.c runtimes/cpython/pycheck.c runtimes/cpython/pyframes.c runtimes/cpython/pycode.c
 */
/* covers: runtimes/cpython/pystring.c runtimes/cpython/pylayout.c runtimes/memory/evalcode.c runtimes/memory/livecopy.c
 */
#include "test/lib/pythons.h"

#include "common/text.h"
#include "runtimes/cpython/pycheck.h"
#include "runtimes/memory/livecopy.h"

#include <stdlib.h>

static struct cpython_stack stack;
static struct threadcopy *copy;

static const struct {
	const char *mode;
	unsigned depth, stops;
} programs[] = {
	{ "deep", 2, 1 },       { "deep", 123, 1 },       { "deep", 1997, 1 }, { "sorted", 0, 1 }, { "cross", 30, 1 },
	{ "generators", 0, 2 }, { "exceptions", 0, 1 },   { "init", 0, 1 },    { "init", 1, 40 },  { "special", 0, 2 },
	{ "coroutine", 0, 1 },  { "names", 0, 1 },        { "odd", 0, 1 },     { "large", 0, 1 },  { "threads", 0, 1 },
	{ "import", 0, 1 },     { "interpreters", 0, 1 },
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

/* Returns true if the main thread holds the GIL, alone. */
static bool holds_gil(struct pythonrun *run, struct cpython *cpython)
{
	static struct cpython_thread thread[64];
	size_t n = cpython_threads(cpython, thread, 64);

	for (size_t i = 0; i < n; i++)
		if ((cpython_gil_holder(cpython, thread[i].interpreter) == thread[i].state) !=
		    (thread[i].tid == (uint32_t)run->pid))
			return false;
	return n > 0;
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
	/* The thread that has stopped itself holds the GIL, as it runs Python code. */
	if (good && answer == CPYTHON_OPEN && python->minor >= 9)
		good = holds_gil(&run, &cpython);
	snprintf(what, sizeof(what), "%s %s %u: frames, names and lines", python->name, programs[which].mode,
		 programs[which].depth);
	ok(good && answer == CPYTHON_OPEN, what);
	if (!ok(borders == 0, "  and borders of functions that C calls"))
		printf("# %u wrong\n", borders);
	python_end(&run);
}

/* Writes into the memory of a stopped process, as a build of another version would have it. */
static bool poke(const struct pythonrun *run, uint64_t address, const void *bytes, size_t n)
{
	char path[64];
	int fd;
	bool good;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)run->pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	good = fd >= 0 && pwrite(fd, bytes, n, (off_t)address) == (ssize_t)n;
	close(fd);
	return good;
}

/* A version that no row of the tables has: the layouts of other versions are candidates, and only the right one is
 * proven. */
static void unknown_version(const struct python *python)
{
	uint64_t strange = python->minor >= 13 ? 0x031000f0 : 0x030700f0, address;
	struct pythonrun run;
	struct cpython cpython, other = { 0 };
	struct cpython_candidate candidate = { .path = STR("/usr/bin/python3.7") };
	unsigned borders = 0;
	char what[400];
	bool good = python_run(python, "exceptions", 0, &run) && python_open(&run, &cpython) == CPYTHON_OPEN;

	candidate.base = run.base;
	if (good && python->minor >= 13)
		good = poke(&run, cpython.runtime + 8, &strange, 8);
	if (good && loadedfile_symbol(&cpython.file, STR("Py_Version"), &address))
		good = poke(&run, address, &strange, 8);
	memory_forget(&run.memory);
	good = good && cpython_open(&other, &run.memory, &candidate) == CPYTHON_OPEN;
	snprintf(what, sizeof(what), "%s with the version number of another build: the same names", python->name);
	if (!ok(good && is_truth(&run, &other, &borders), what))
		printf("# %s\n", other.why);
	python_end(&run);
}

/* Offsets that contradict the memory are refused. */
static void wrong_offset(const struct python *python)
{
	uint64_t offset = 16, at = python->minor == 13 ? 184 : 208;
	struct pythonrun run;
	struct cpython cpython, other = { 0 };
	struct cpython_candidate candidate = { .path = STR("/usr/bin/python3.7") };
	char what[400];
	bool good = python_run(python, "deep", 3, &run) && python_open(&run, &cpython) == CPYTHON_OPEN;

	candidate.base = run.base;
	/* _Py_DebugOffsets: thread_state.current_frame becomes that of interp. */
	good = good && poke(&run, cpython.runtime + at, &offset, 8);
	memory_forget(&run.memory);
	snprintf(what, sizeof(what), "%s with a wrong offset in _Py_DebugOffsets is refused", python->name);
	ok(good && cpython_open(&other, &run.memory, &candidate) == CPYTHON_REFUSED, what);
	printf("# %s\n", other.why);
	python_end(&run);
}

/* A thread that runs in a second interpreter, below a frame of the first: which state is the current one is unknown. */
static void two_states(const struct python *python)
{
	struct cpython_thread thread[8];
	struct pythonrun run;
	struct cpython cpython;
	const char *why;
	char what[400];
	bool good = python_run(python, "interpreters", 1, &run) && python_open(&run, &cpython) == CPYTHON_OPEN;

	snprintf(what, sizeof(what), "%s in two interpreters: two states, no thread", python->name);
	ok(good && pycheck_threads(&cpython, thread, 8, &why) == 2 && cpython_threads(&cpython, thread, 8) == 0, what);
	python_end(&run);
}

/* Of a thread with two states, one without a frame: the other is the current one only if its frames are readable. */
static void unreadable_state(const struct python *python)
{
	struct cpython_thread thread[8];
	struct pythonrun run;
	struct cpython cpython;
	const char *why;
	char what[400];
	uint64_t none = 0, impossible = 8, idle, other;
	bool good = python_run(python, "interpreters", 1, &run) && python_open(&run, &cpython) == CPYTHON_OPEN &&
		    pycheck_threads(&cpython, thread, 8, &why) == 2;

	idle = good ? thread[0].state + cpython.layout.thread.frame : 0;
	other = good ? thread[1].state + cpython.layout.thread.frame : 0;
	good = good && poke(&run, idle, &none, 8);
	memory_forget(&run.memory);
	snprintf(what, sizeof(what), "%s in two interpreters, one without frames: one thread", python->name);
	good = ok(good && cpython_threads(&cpython, thread, 8) == 1, what) && poke(&run, other, &impossible, 8);
	memory_forget(&run.memory);
	snprintf(what, sizeof(what), "%s in two interpreters, one without frames, one not readable: none",
		 python->name);
	ok(good && cpython_threads(&cpython, thread, 8) == 0, what);
	python_end(&run);
}

static void paths(void)
{
	ok(cpython_is_library(STR("/usr/bin/python3.11")) && cpython_is_library(STR("/opt/python3")) &&
		   cpython_is_library(STR("/usr/lib/libpython3.13.so.1.0")) &&
		   cpython_is_library(STR("/x/libpython3.8.so.1.0 (deleted)")) &&
		   cpython_is_library(STR("python3.13t")) && cpython_is_library(STR("/x/libpython3.7m.so.1.0")),
	   "paths of programs and libraries");
	ok(!cpython_is_library(STR("/usr/bin/python2.7")) && !cpython_is_library(STR("/usr/lib/python3.11/os.py")) &&
		   !cpython_is_library(STR("/x/libpython3.11.a")) && !cpython_is_library(STR("")) &&
		   !cpython_is_library(STR("/x/_json.cpython-311-x86_64-linux-gnu.so")) &&
		   !cpython_is_library(STR("/usr/bin/python3.11-config")) && !cpython_is_library(STR("python3.")),
	   "paths of other files");
}

int main(void)
{
	struct python python[PYTHONS_MAX];
	size_t n = pythons_find(python);

	copy = malloc(sizeof(*copy) + THREADCOPY_BYTES);
	paths();
	if (n == 0)
		printf("ok %d - CPython # SKIP no CPython 3.8 or newer\n", ++tap_n);
	for (size_t i = 0; i < n; i++) {
		unknown_version(&python[i]);
		two_states(&python[i]);
		unreadable_state(&python[i]);
		if (python[i].minor >= 13)
			wrong_offset(&python[i]);
		for (size_t k = 0; k < sizeof(programs) / sizeof(*programs); k++)
			one_program(&python[i], k);
	}
	free(copy);
	return done();
}
