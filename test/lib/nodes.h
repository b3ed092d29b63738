/* nodes.h - finds the node programs (Node.js) of this machine; runs truth.js in one, and stops it at any moment. */
#ifndef PJ_TEST_NODES_H
#define PJ_TEST_NODES_H

#include "runtimes/v8/v8.h"
#include "test/lib/tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NODES_STACK 24576u

/* A program that runs truth.js. */
struct noderun {
	pid_t pid, thread; /* thread: the one that noderun_stop stops */
	struct memory memory;
	struct readbudget budget;
	char folder[64]; /* its working directory, to which --perf-basic-prof writes a log */
	char maps[1 << 20];
	size_t nmaps;
	char stack[NODES_STACK];
	struct user_regs_struct registers;
};

/* Reads /proc/PID/maps. */
static inline void noderun_maps(struct noderun *run)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", run->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	run->nmaps = 0;
	while (fd >= 0 && (n = read(fd, run->maps + run->nmaps, sizeof(run->maps) - run->nmaps)) > 0)
		run->nmaps += (size_t)n;
	if (fd >= 0)
		close(fd);
}

/* Opens V8 in the first file that has it: in node, or in its library (Debian). */
static inline enum v8_answer noderun_open(struct noderun *run, struct v8 *v8)
{
	struct str maps = { run->maps, run->nmaps }, rest = maps;
	enum v8_answer answer = V8_OTHER_FILE;

	run->budget = (struct readbudget){ .steps = 2000000, .bytes = 64 << 20 };
	while (rest.n && answer == V8_OTHER_FILE) {
		struct str line = str_cut(&rest, '\n');
		ptrdiff_t slash = str_find(line, '/');
		uint64_t base;

		if (slash >= 0 && v8_is_library(str_from(line, (size_t)slash)) &&
		    str_find_str(line, STR(" 00000000 ")) >= 0 && str_hex(str_cut(&line, '-'), &base))
			answer = v8_open(v8, &run->memory, base, maps);
	}
	return answer;
}

/* Waits until a process has had 0.5 s of CPU time: node runs its program then. At most 20 s. */
static inline void noderun_wait(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	for (unsigned i = 0; i < 2000 && clock_getcpuclockid(pid, &clock) == 0; i++) {
		if (clock_gettime(clock, &used) != 0 || used.tv_sec > 0 || used.tv_nsec >= 500000000)
			return;
		usleep(10000);
	}
}

/* Starts `node OPTION truth.js MODE` (option: NULL for none), and opens its memory once it runs the program. */
static inline bool noderun_start(struct noderun *run, const char *node, const char *option, const char *mode)
{
	const char *top = getenv("PJ_TOP");
	char path[PATH_MAX], program[PATH_MAX];

	*run = (struct noderun){ .memory = { .fd = -1 }, .folder = "/tmp/pj-node.XXXXXX" };
	snprintf(path, sizeof(path), "%s/test/lib/loads/truth.js", top ? top : ".");
	if (!realpath(path, program) || !mkdtemp(run->folder))
		return run->folder[0] = 0, false;
	run->pid = fork();
	if (run->pid == 0) {
		int null = open("/dev/null", O_RDWR);

		if (chdir(run->folder) != 0)
			_exit(127);
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		if (option) {
			execl(node, node, option, program, mode, "60", (char *)NULL);
		} else {
			execl(node, node, program, mode, "60", (char *)NULL);
		}
		_exit(127);
	}
	run->thread = run->pid;
	noderun_wait(run->pid);
	snprintf(path, sizeof(path), "/proc/%d/mem", run->pid);
	run->memory.fd = open(path, O_RDONLY | O_CLOEXEC);
	run->memory.budget = &run->budget;
	noderun_maps(run);
	return run->memory.fd >= 0 && ptrace(PTRACE_SEIZE, run->pid, NULL, NULL) == 0;
}

/* Stops the thread, and copies its registers and its stack to *stack. Returns false on failure. */
static inline bool noderun_stop(struct noderun *run, struct v8_stack *stack)
{
	ssize_t n;
	int status;

	if (ptrace(PTRACE_INTERRUPT, run->thread, NULL, NULL) != 0 ||
	    waitpid(run->thread, &status, __WALL) != run->thread || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_GETREGS, run->thread, NULL, &run->registers) != 0)
		return false;
	n = pread(run->memory.fd, run->stack, sizeof(run->stack), (off_t)run->registers.rsp);
	if (n <= 0)
		return false;
	*stack = (struct v8_stack){ .start = run->registers.rsp,
				    .bytes = { run->stack, (size_t)n },
				    .ip = run->registers.rip,
				    .bp = run->registers.rbp };
	memory_forget(&run->memory);
	run->budget = (struct readbudget){ .steps = 2000000, .bytes = 64 << 20 };
	return true;
}

static inline void noderun_go_on(struct noderun *run)
{
	ptrace(PTRACE_CONT, run->thread, NULL, NULL);
}

/* Removes the files that node has written, and their folder. */
static inline void noderun_clean(const struct noderun *run)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *folder = run->folder[0] ? opendir(run->folder) : NULL;

	while (folder && (entry = readdir(folder))) {
		snprintf(path, sizeof(path), "%s/%s", run->folder, entry->d_name);
		unlink(path);
	}
	if (folder)
		closedir(folder);
	rmdir(run->folder);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", run->pid);
	unlink(path);
}

static inline void noderun_end(struct noderun *run)
{
	if (run->pid > 0) {
		kill(run->pid, SIGKILL);
		while (waitpid(run->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	noderun_clean(run);
	memory_close(&run->memory);
}

/* Finds node programs: that in /usr/bin, and those in PJ_NODES, separated by colons. Returns their number. */
static inline size_t nodes_find(char path[][PATH_MAX], size_t max)
{
	const char *list = getenv("PJ_NODES");
	struct str rest = list ? str_of(list) : (struct str){ 0 };
	size_t n = 0;

	if (access("/usr/bin/node", X_OK) == 0)
		snprintf(path[n++], PATH_MAX, "/usr/bin/node");
	while (rest.n && n < max) {
		struct str one = str_cut(&rest, ':');

		snprintf(path[n], PATH_MAX, "%.*s", (int)one.n, one.p);
		n += access(path[n], X_OK) == 0;
	}
	return n;
}

#endif
