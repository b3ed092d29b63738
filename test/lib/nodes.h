/* nodes.h - the nodes of this machine, and programs that run in them and are stopped at any moment. */
#ifndef PJ_TEST_NODES_H
#define PJ_TEST_NODES_H

#include "runtimes/v8/v8.h"
#include "test/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define NODES_STACK 24576u

/* A program that runs truth.js. */
struct noderun {
	pid_t pid;
	struct memory memory;
	struct readbudget budget;
	uint64_t base;
	char maps[1 << 20];
	size_t nmaps;
	char stack[NODES_STACK];
	struct user_regs_struct registers;
};

/* Reads /proc/PID/maps, and finds the first mapping of node, or of its library. */
static inline bool noderun_maps(struct noderun *run)
{
	char path[64];
	struct str rest;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", run->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	run->nmaps = 0;
	while (fd >= 0 && (n = read(fd, run->maps + run->nmaps, sizeof(run->maps) - run->nmaps)) > 0)
		run->nmaps += (size_t)n;
	if (fd >= 0)
		close(fd);
	for (rest = (struct str){ run->maps, run->nmaps }; rest.n;) {
		struct str line = str_cut(&rest, '\n');
		ptrdiff_t slash = str_find(line, '/');

		if (slash >= 0 && v8_is_library(str_from(line, (size_t)slash)))
			return str_hex(str_cut(&line, '-'), &run->base);
	}
	return false;
}

/* Starts `node OPTION truth.js MODE` (option: NULL for none), and opens its memory once it runs the program. */
static inline bool noderun_start(struct noderun *run, const char *node, const char *option, const char *mode)
{
	const char *top = getenv("PJ_TOP");
	char path[PATH_MAX];

	*run = (struct noderun){ .memory = { .fd = -1, .process = -1 } };
	snprintf(path, sizeof(path), "%s/test/lib/loads/truth.js", top ? top : ".");
	run->pid = fork();
	if (run->pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		if (option) {
			/* --perf-basic-prof writes a log, too */
			execl(node, node, option, "--no-logfile-per-isolate", "--logfile=/dev/null", path, mode, "60",
			      (char *)NULL);
		} else {
			execl(node, node, path, mode, "60", (char *)NULL);
		}
		_exit(127);
	}
	usleep(500000);
	snprintf(path, sizeof(path), "/proc/%d/mem", run->pid);
	run->memory.fd = open(path, O_RDONLY | O_CLOEXEC);
	run->memory.budget = &run->budget;
	return run->memory.fd >= 0 && noderun_maps(run) && ptrace(PTRACE_SEIZE, run->pid, NULL, NULL) == 0;
}

/* Stops it, and copies registers and stack. */
static inline bool noderun_stop(struct noderun *run, struct v8_stack *stack)
{
	ssize_t n;
	int status;

	if (ptrace(PTRACE_INTERRUPT, run->pid, NULL, NULL) != 0 || waitpid(run->pid, &status, 0) != run->pid ||
	    ptrace(PTRACE_GETREGS, run->pid, NULL, &run->registers) != 0)
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
	ptrace(PTRACE_CONT, run->pid, NULL, NULL);
}

static inline void noderun_end(struct noderun *run)
{
	if (run->pid > 0) {
		kill(run->pid, SIGKILL);
		while (waitpid(run->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	memory_close(&run->memory);
}

/* Finds node: /usr/bin, and those in PJ_NODES, separated by colons. Returns their number. */
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
