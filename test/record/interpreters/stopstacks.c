/*
 * stopstacks [-n STOPS] [-r ROOT] [-w MS] [-v] -- PROGRAM ARGUMENT...: starts an interpreter, stops it STOPS times at
 * any instruction (ptrace), and prints each stack folded: native frames as FILE+OFFSET, interpreted ones as NAME_[0],
 * merged by the modules that the recorder uses. The memory of a stopped process does not change, so the frames in it
 * are those of its registers: a stack that the program cannot have is a fault of these modules, and no sample is left
 * out as uncertain. ROOT is a root file system for the program. MS is the time before the first stop.
 * -v: prints the lists that do not match, too.
 *
 * Ends with status 77 if it may not trace. Prints to standard error: "STOPS root N cut N broken N unknown N merged N
 * mismatched N unnamed N".
 */
#include "common/text.h"
#include "record/interpreters/interpreter.h"
#include "runtimes/memory/livecopy.h"
#include "unwind/hostframe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STACK_BYTES = 24576, MAPS_MAX = 1024, MAPS_BYTES = 1 << 20, FRAMES_MAX = 2048, THREADS_MAX = 64 };
enum { OPEN_ATTEMPTS = 200, ATTEMPT_US = 20000 };
enum { NOT_ALLOWED = 77 }; /* exit status */

/* General registers, stack pointer, instruction pointer, r8 to r15. */
static const uint64_t registers_mask = UINT64_C(0xff) | UINT64_C(1) << 8 | UINT64_C(0xff) << 16;

struct map {
	uint64_t start, end, bias;
	struct unwind_table *table;
	char name[64]; /* last part of the path */
};

static struct {
	pid_t pid;
	const char *root;
	char maps[MAPS_BYTES];
	size_t nmaps_bytes;
	struct map map[MAPS_MAX];
	size_t nmaps;
	struct memory memory;
	const struct interpreter *interpreter;
	void *state;
	struct threadplan plan;
	struct onestack_range eval[INTERPRETER_EVALS_MAX];
	size_t nevals;
	struct hostframe hostframe;
	struct interpreter_thread thread[THREADS_MAX];
	size_t nthreads;
} target;

static struct {
	unsigned stops, end[8], merged, mismatched, unnamed;
} count;

static struct interpreter_list list;
static enum interpreter_end list_end;
static struct onestack merged;
static struct threadcopy *copy;
static bool verbose;

/* ---- process ----------------------------------------------------------------------------------------------------- */

/* Returns true if this process may trace its children (Yama, seccomp). */
static bool may_trace(void)
{
	pid_t child = fork();
	bool traced;

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	traced = child > 0 && ptrace(PTRACE_SEIZE, child, NULL, (void *)(intptr_t)PTRACE_O_EXITKILL) == 0;
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, __WALL);
	}
	return traced;
}

static void start_program(char **argv)
{
	target.pid = fork();
	if (target.pid != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(null, 0);
	dup2(null, 1);
	if (target.root && (chroot(target.root) != 0 || chdir("/") != 0))
		_exit(1);
	execvp(argv[0], argv);
	_exit(1);
}

static void read_maps(void)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)target.pid);
	file = fopen(path, "re");
	target.nmaps_bytes = file ? fread(target.maps, 1, sizeof(target.maps), file) : 0;
	if (file)
		fclose(file);
}

static struct unwind_table *open_table(struct str path, uint64_t start, uint64_t end)
{
	char inside[4200];
	const char *why;
	int fd;

	if (path.p[0] == '/') {
		/* /proc/PID/maps has paths as its reader sees them */
		snprintf(inside, sizeof(inside), "%.*s", (int)path.n, path.p);
		fd = open(inside, O_RDONLY | O_CLOEXEC);
	} else { /* [vdso], from memory */
		char *bytes = malloc(end - start);

		fd = memfd_create("vdso", MFD_CLOEXEC);
		if (!memory_bulk(&target.memory, start, bytes, end - start) ||
		    write(fd, bytes, end - start) != (ssize_t)(end - start))
			close(fd), fd = -1;
		free(bytes);
	}
	return fd < 0 ? NULL : unwind_table_open(fd, &why);
}

/* Reads the executable mappings, with their unwind tables. A line: START-END RIGHTS OFFSET DEVICE INODE PATH. */
static void open_maps(void)
{
	struct str maps = { target.maps, target.nmaps_bytes };

	while (maps.n && target.nmaps < MAPS_MAX) {
		struct str line = str_cut(&maps, '\n'), rights, path = { 0 };
		struct map *map = &target.map[target.nmaps];
		ptrdiff_t at = str_find(line, '/');
		uint64_t offset;

		*map = (struct map){ 0 };
		at = at >= 0 ? at : str_find(line, '[');
		if (at >= 0)
			path = str_from(line, (size_t)at);
		str_hex(str_cut(&line, '-'), &map->start);
		str_hex(str_cut(&line, ' '), &map->end);
		rights = str_cut(&line, ' ');
		if (rights.n < 3 || rights.p[2] != 'x' || !str_hex(str_cut(&line, ' '), &offset))
			continue;
		snprintf(map->name, sizeof(map->name), "%.*s", (int)(path.n - (size_t)(str_rfind(path, '/') + 1)),
			 path.p + str_rfind(path, '/') + 1);
		if (path.n && !str_starts(path, STR("[vsyscall")))
			map->table = open_table(path, map->start, map->end);
		if (map->table && !unwind_table_bias(map->table, map->start, offset, &map->bias))
			map->table = NULL;
		target.nmaps++;
	}
}

static const struct map *map_at(uint64_t address)
{
	for (size_t i = 0; i < target.nmaps; i++)
		if (address >= target.map[i].start && address < target.map[i].end)
			return &target.map[i];
	return NULL;
}

/* Opens the interpreter in one of the files that may have it. Sets *why to the reason of a failure. */
static enum interpreter_answer try_interpreter(char why[INTERPRETER_WHY])
{
	struct str maps, all = { target.maps, target.nmaps_bytes };
	enum interpreter_answer answer = INTERPRETER_OTHER;

	read_maps();
	all.n = target.nmaps_bytes;
	for (maps = all; maps.n && answer == INTERPRETER_OTHER;) {
		struct str line = str_cut(&maps, '\n'), start;
		ptrdiff_t slash = str_find(line, '/');
		struct interpreter_candidate candidate = { .maps = all };
		uint64_t offset;

		target.interpreter = slash < 0 ? NULL : interpreter_of_path(str_from(line, (size_t)slash));
		if (!target.interpreter)
			continue;
		candidate.path = str_from(line, (size_t)slash);
		start = str_cut(&line, '-');
		str_cut(&line, ' ');
		str_cut(&line, ' ');
		if (!str_hex(start, &candidate.base) || !str_hex(str_cut(&line, ' '), &offset) || offset)
			continue;
		free(target.state);
		target.state = calloc(1, target.interpreter->size);
		memory_forget(&target.memory);
		answer = target.interpreter->open(target.state, &target.memory, &candidate, why);
	}
	return answer;
}

static bool open_interpreter(void)
{
	char path[64], why[INTERPRETER_WHY] = "";
	enum interpreter_answer answer = INTERPRETER_OTHER;
	struct taskid id;
	int process;

	snprintf(path, sizeof(path), "/proc/%d", (int)target.pid);
	process = open(path, O_PATH | O_CLOEXEC);
	for (unsigned i = 0; i < OPEN_ATTEMPTS && answer != INTERPRETER_OPEN; i++) {
		if (target.memory.page)
			memory_close(&target.memory);
		if (!taskid_read(process, &id) || memory_open(&target.memory, process, &id) != TASKID_SAME)
			break;
		answer = try_interpreter(why);
		if (answer == INTERPRETER_REFUSED)
			break;
		if (answer != INTERPRETER_OPEN)
			usleep(ATTEMPT_US);
	}
	if (answer != INTERPRETER_OPEN) {
		fprintf(stderr, "stopstacks: not opened: %s\n", why);
		return false;
	}
	target.interpreter->plan(target.state, &target.plan);
	target.nevals = target.interpreter->evals(target.state, target.eval);
	target.nthreads = target.interpreter->threads(target.state, target.thread, THREADS_MAX);
	onestack_hostframe(&target.hostframe, target.eval, target.nevals);
	return true;
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

static bool find_code(void *owner, const struct walk *walk, const struct unwind_state *state, struct walk_code *code)
{
	uint64_t address = walk_code_address(state);
	const struct map *map = map_at(address);

	(void)owner;
	(void)walk;
	if (hostframe_holds(&target.hostframe, address, map && !map->name[0])) {
		code->unwinder = &unwinder_host_frame;
		code->blob = &target.hostframe;
		if (target.hostframe.host)
			map = map_at(target.hostframe.host);
	} else if (map && map->table) {
		code->unwinder = &unwinder_cfi;
	}
	code->mapped = map;
	if (map)
		code->tables = (struct unwind_code){ map->table, map->bias };
	return true;
}

static uint64_t root_of(pid_t tid)
{
	for (size_t i = 0; i < target.nthreads; i++)
		if (target.thread[i].tid == (uint32_t)tid ||
		    (target.thread[i].tid == INTERPRETER_MAIN_THREAD && tid == target.pid))
			return target.thread[i].root;
	return 0;
}

struct registers {
	uint64_t value[17];
	char stack[STACK_BYTES];
	size_t n;
};

static bool read_registers(pid_t tid, struct registers *registers)
{
	struct user_regs_struct user;
	ssize_t n;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &user) != 0)
		return false;
	const uint64_t value[17] = { user.rax, user.rbx, user.rcx, user.rdx, user.rsi, user.rdi,
				     user.rbp, user.rsp, user.rip, user.r8,  user.r9,  user.r10,
				     user.r11, user.r12, user.r13, user.r14, user.r15 };

	memcpy(registers->value, value, sizeof(value));
	n = pread(target.memory.fd, registers->stack, STACK_BYTES, (off_t)user.rsp);
	registers->n = n > 0 ? (size_t)n : 0;
	return registers->n > 0;
}

/* Returns true if a register or a word near the leaf has this value, as samplestack.c. */
static bool holds(const struct registers *registers, uint64_t value)
{
	for (size_t i = 0; i < countof(registers->value); i++)
		if (registers->value[i] == value)
			return true;
	for (size_t at = 0; at + 8 <= registers->n && at < 512; at += 8)
		if (memcmp(registers->stack + at, &value, 8) == 0)
			return true;
	return false;
}

struct named {
	struct onestack_frame frame[INTERPRETER_FRAMES_MAX];
	char *name[INTERPRETER_FRAMES_MAX]; /* NULL: none */
	size_t n;
	bool entering;
};

static void read_frames(uint64_t root, struct named *named)
{
	static struct text text;

	memory_forget(&target.memory);
	livecopy_read(&target.memory, &target.plan, root, copy, THREADCOPY_BYTES);
	list.stack_low = list.stack_high = 0;
	list_end = target.interpreter->frames(target.state, copy, &list);
	named->n = 0;
	named->entering = false;
	for (uint32_t i = 0; i < list.n; i++) {
		struct interpreter_place place = { 0 };
		enum interpreter_named of;

		text.n = 0;
		of = target.interpreter->describe(target.state, &list.frame[i], &place, &text);
		if (i == 0)
			named->entering = list.frame[0].entry && of == INTERPRETER_NAMED && place.first;
		if (of == INTERPRETER_INTERNAL) {
			if (named->n && list.frame[i].entry)
				named->frame[named->n - 1].entry = true;
			continue;
		}
		count.unnamed += of == INTERPRETER_UNNAMED;
		named->name[named->n] = of == INTERPRETER_NAMED ? strdup(text.p) : NULL;
		named->frame[named->n] = (struct onestack_frame){ .address = named->n,
								  .frame = list.frame[i].frame,
								  .entry = list.frame[i].entry };
		named->n++;
	}
}

/* Marks an interpreted frame in a merged stack: its address is then an index in struct named. */
static bool is_interpreted(const struct walk_frame *frame, const struct named *named)
{
	return frame->exact && frame->address < named->n;
}

static void print_frame(const struct walk_frame *frame, const struct named *named)
{
	const struct map *map;

	if (is_interpreted(frame, named)) {
		const char *name = named->name[frame->address];

		printf("%s_[0]", name ? name : "[unnamed]");
		return;
	}
	map = map_at(walk_frame_lookup(frame));
	printf("%s+%" PRIx64, map && map->name[0] ? map->name : "[memory]", frame->address - (map ? map->start : 0));
}

static void print_stack(const struct walk_frame *frame, size_t n, enum unwind_end end, const struct named *named)
{
	printf("%s", target.interpreter->name);
	for (size_t i = n; i-- > 0;) {
		putchar(';');
		print_frame(&frame[i], named);
	}
	printf("%s 1\n", end == UNWIND_ROOT ? "" : ";[incomplete]");
}

static void print_mismatch(const struct walk *walk, const struct named *named)
{
	fprintf(stderr, "%zu activations, %zu segments, frames end %d:", merged.activations, merged.segments,
		(int)list_end);
	for (size_t i = 0; i < named->n; i++)
		fprintf(stderr, " %s%s(%" PRIx64 ")", named->name[i] ? named->name[i] : "?",
			named->frame[i].entry ? "*" : "", named->frame[i].frame);
	fprintf(stderr, "; native end %d:", (int)walk->end);
	for (size_t i = 0; i < walk->n; i++) {
		const struct map *map = map_at(walk_frame_lookup(&walk->frame[i]));

		fprintf(stderr, " %s+%" PRIx64 "(%" PRIx64 ")", map ? map->name : "",
			walk->frame[i].address - (map ? map->start : 0), walk->frame[i].value);
	}
	fprintf(stderr, "\n");
}

static void one_stop(pid_t tid, struct walk *walk, const struct registers *registers)
{
	static struct named named;
	struct onestack_lists lists = { .eval = target.eval,
					.nevals = target.nevals,
					.frame = named.frame,
					.frames_lead = target.interpreter->frames_lead,
					.has_register = target.interpreter->frame_in_r14 };
	struct unwind_state state;
	uint64_t root = root_of(tid), sp = registers->value[7];

	if (!root ||
	    !unwind_start(&state, registers_mask, registers->value, 2, (struct str){ registers->stack, registers->n }))
		return;
	walk_stack(walk, &state);
	read_frames(root, &named);
	count.stops++;
	count.end[walk->end & 7]++;
	lists.native = walk->frame;
	lists.nnative = walk->n;
	lists.end = walk->end;
	lists.n = named.n;
	lists.complete = list_end == INTERPRETER_COMPLETE;
	lists.entering = named.entering;
	lists.leaf_sure = named.n && holds(registers, named.frame[0].frame);
	lists.has_activations = walk->end == UNWIND_STACK_CUT && list.stack_high && sp >= list.stack_low &&
				sp <= list.stack_high && registers->n >= list.stack_high - sp;
	if (list_end < INTERPRETER_IMPOSSIBLE &&
	    (list.stack_high == 0 || (sp >= list.stack_low && sp <= list.stack_high)) &&
	    onestack_merge(&merged, &lists, FRAMES_MAX)) {
		count.merged++;
		print_stack(merged.frame, merged.n, merged.end, &named);
	} else {
		size_t n = named.n;

		count.mismatched++;
		if (verbose)
			print_mismatch(walk, &named);
		named.n = 0;
		print_stack(walk->frame, walk->n, walk->end, &named);
		named.n = n;
	}
	for (size_t i = 0; i < named.n; i++)
		free(named.name[i]);
}

static bool stop_thread(pid_t tid)
{
	int status;

	for (;;) {
		if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
			return false;
		if (status >> 16 == PTRACE_EVENT_STOP)
			return true;
		ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)WSTOPSIG(status)); /* a signal */
	}
}

static void run_stops(unsigned stops)
{
	struct walk walk = { .find = find_code, .max = FRAMES_MAX, .retry_leaf = true, .slot = 14 };
	static struct registers registers;

	if (ptrace(PTRACE_SEIZE, target.pid, NULL, (void *)(intptr_t)PTRACE_O_EXITKILL) != 0)
		return;
	for (unsigned i = 0; i < stops; i++) {
		if (ptrace(PTRACE_INTERRUPT, target.pid, NULL, NULL) != 0 || !stop_thread(target.pid))
			break;
		if (read_registers(target.pid, &registers))
			one_stop(target.pid, &walk, &registers);
		if (ptrace(PTRACE_CONT, target.pid, NULL, NULL) != 0)
			break;
		usleep(100 + 13 * (i * 7919u % 61u));
	}
	walk_release(&walk);
}

int main(int argc, char **argv)
{
	unsigned stops = 1000, wait_ms = 500;
	int option;

	while ((option = getopt(argc, argv, "n:r:vw:")) != -1)
		switch (option) {
		case 'n': stops = (unsigned)atoi(optarg); break;
		case 'r': target.root = optarg; break;
		case 'v': verbose = true; break;
		case 'w': wait_ms = (unsigned)atoi(optarg); break;
		default: return 2;
		}
	if (optind == argc)
		return 2;
	if (!may_trace()) {
		fprintf(stderr, "stopstacks: ptrace is not allowed here\n");
		return NOT_ALLOWED;
	}
	copy = calloc(1, sizeof(*copy) + THREADCOPY_BYTES);
	start_program(argv + optind);
	usleep(wait_ms * 1000);
	if (open_interpreter()) {
		open_maps();
		run_stops(stops);
	}
	kill(target.pid, SIGKILL);
	waitpid(target.pid, NULL, 0);
	fprintf(stderr, "%u root %u cut %u broken %u unknown %u merged %u mismatched %u unnamed %u\n", count.stops,
		count.end[UNWIND_ROOT], count.end[UNWIND_STACK_CUT] + count.end[UNWIND_MORE],
		count.end[UNWIND_NO_CODE] + count.end[UNWIND_LOOP], count.end[UNWIND_UNKNOWN], count.merged,
		count.mismatched, count.unnamed);
	return count.stops ? 0 : 1;
}
