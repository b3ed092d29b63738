/* Worker threads of real nodes, stopped at any moment: each has an isolate of its own, and the functions that it runs.
 */
/* covers: runtimes/v8/v8.c runtimes/v8/v8frames.c runtimes/v8/v8code.c */
#include "test/lib/nodes.h"

#include "common/formats/perfrecord.h"

#include <time.h>

#define STOPS 40u
#define IDLE_STOPS 12u /* of a thread that runs no functions */
#define START_MS 15000 /* in which the threads start: some 1000 ms if the machine is not loaded */
#define THREADS 64u

static struct v8 v8;
static struct v8_frames frames;
static struct noderun run;

/* The programs of the three threads: functions with these names, separated by spaces, the first one in each stack. */
static const char *const program[] = { "serve workers main fifty thirty twenty",
				       "parents main alternate ping pong shared", "deep main fifty thirty twenty" };

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0))
			return true;
	return false;
}

struct seen {
	unsigned stacks[countof(program)], wrong;
};

/* Reads the functions of truth.js on a stack. Returns the bits of the programs that have all of them. */
static unsigned programs_of(unsigned *functions)
{
	unsigned bits = (1u << countof(program)) - 1;

	for (uint32_t i = 0; i < frames.n; i++) {
		struct v8_function function;

		if (frames.frame[i].kind == V8_UNPROVEN || !v8_function(&v8, frames.frame[i].shared, &function) ||
		    !str_ends(str_of(function.file), STR("/truth.js")) || !function.has_name)
			continue;
		++*functions;
		for (unsigned k = 0; k < countof(program); k++)
			if (!has_word(program[k], function.name))
				bits &= ~(1u << k);
	}
	return bits;
}

/* Returns true if a function has this name. */
static bool stack_has(const char *name)
{
	for (uint32_t i = 0; i < frames.n; i++) {
		struct v8_function function;

		if (frames.frame[i].kind != V8_UNPROVEN && v8_function(&v8, frames.frame[i].shared, &function) &&
		    strcmp(function.name, name) == 0)
			return true;
	}
	return false;
}

static void judge_stack(struct seen *seen)
{
	static const char *const first[] = { "serve", "parents", "deep" };
	unsigned functions = 0, bits = programs_of(&functions);

	if (functions == 0)
		return;
	seen->wrong += bits == 0;
	for (unsigned k = 0; k < countof(first); k++)
		seen->stacks[k] += bits >> k & 1 && stack_has(first[k]);
}

/* Stops a thread some times. Threads that run no functions are left soon. */
static void look_at(pid_t thread, struct seen *seen)
{
	struct v8_stack stack;

	*seen = (struct seen){ 0 };
	run.thread = thread;
	/* The first thread is traced from the start. */
	if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) != 0 && thread != run.pid)
		return;
	for (unsigned i = 0; i < STOPS && noderun_stop(&run, &stack); i++) {
		v8_frames(&v8, &stack, &frames);
		judge_stack(seen);
		if (i == STOPS - 1 || (i == IDLE_STOPS && seen->stacks[0] + seen->stacks[1] + seen->stacks[2] == 0))
			break;
		noderun_go_on(&run);
		usleep(1500 + 37 * (i * 7919u % 61u));
	}
	/* The process ends once nobody waits for its threads. */
	ptrace(PTRACE_DETACH, thread, NULL, NULL);
}

static size_t threads_of(pid_t thread[THREADS])
{
	char path[64];
	struct dirent *entry;
	size_t n = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", run.pid);
	folder = opendir(path);
	while (folder && (entry = readdir(folder)) && n < THREADS)
		if (entry->d_name[0] != '.')
			thread[n++] = (pid_t)atoi(entry->d_name);
	if (folder)
		closedir(folder);
	return n;
}

struct result {
	unsigned found[countof(program)], wrong, mixed;
};

/* Looks at all threads. Returns true if each program was found. */
static bool look_at_all(struct result *result)
{
	pid_t thread[THREADS];
	size_t n = threads_of(thread);
	bool all = true;

	memset(result->found, 0, sizeof(result->found));
	for (size_t i = 0; i < n; i++) {
		struct seen seen;
		unsigned kinds = 0;

		look_at(thread[i], &seen);
		for (unsigned k = 0; k < countof(program); k++) {
			kinds += seen.stacks[k] > 0;
			result->found[k] += seen.stacks[k] > 0;
		}
		result->wrong += seen.wrong;
		result->mixed += kinds > 1;
	}
	for (unsigned k = 0; k < countof(program); k++)
		all = all && result->found[k] > 0;
	return all;
}

static int64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000) + time.tv_nsec / 1000000;
}

static void check(const char *node)
{
	struct result result = { 0 };
	int64_t end = now_ms() + START_MS;
	char what[PATH_MAX + 64];

	if (!noderun_start(&run, node, NULL, "workers")) {
		noderun_end(&run);
		printf("ok %d # SKIP %s: a process may not be traced here\n", ++tap_n, node);
		return;
	}
	noderun_maps(&run);
	snprintf(what, sizeof(what), "%s: V8 is open", node);
	if (ok(noderun_open(&run, &v8) == V8_OPEN, what)) {
		while (!look_at_all(&result) && now_ms() < end)
			usleep(100000);
		ok(result.found[0] == 1 && result.found[1] == 1 && result.found[2] == 1,
		   "  each of three threads has its functions");
		is_u64(result.mixed, 0, "  none those of another thread");
		is_u64(result.wrong, 0, "  and no stack has functions of two threads");
	}
	noderun_end(&run);
}

int main(void)
{
	static char node[16][PATH_MAX];
	size_t n = nodes_find(node, 16);

	if (!n) {
		printf("1..0 # SKIP no node\n");
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		check(node[i]);
	return done();
}
