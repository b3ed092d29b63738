/* waitingprograms.h - finds interpreters of this machine, and runs programs in them that wait for a line of input. The
 * program is a file test/runtimes/LANGUAGE/truth.*: it prints its own stack, then the line "end", and waits. */
#ifndef PJ_TEST_WAITINGPROGRAMS_H
#define PJ_TEST_WAITINGPROGRAMS_H

#include "runtimes/memory/memory.h"
#include "test/lib/tap.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAITINGPROGRAMS_MAX = 16, WAITINGRUN_BASES = 16, WAITINGRUN_OPTIONS = 16 };

/* An interpreter in /usr/bin, and the folder that is its root file system ("": that of this machine). */
struct waitingprogram {
	char root[256], program[256];
	char name[300]; /* name of the interpreter in names of tests */
};

/* Returns true if the path is that of a file that contains the interpreter. */
typedef bool waitingprograms_accept(struct str path);

static inline void waitingprograms_add(struct waitingprogram *program, size_t *n, const char *pattern, bool rooted,
				       waitingprograms_accept *accept)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc && *n < WAITINGPROGRAMS_MAX; i++) {
		const char *path = found.gl_pathv[i], *inner = rooted ? strstr(path, "/usr/bin/") : path;
		struct waitingprogram *one = &program[*n];

		if (!inner || !accept(str_of(path)) || access(path, X_OK) != 0)
			continue;
		snprintf(one->root, sizeof(one->root), "%.*s", (int)(inner - path), path);
		snprintf(one->program, sizeof(one->program), "%s", inner);
		snprintf(one->name, sizeof(one->name), "%s", path);
		++*n;
	}
	globfree(&found);
}

/* Finds interpreters: in /usr/bin, and those that a rootfs.sh unpacked in the folder that the environment variable
 * `variable` names, or in `folder` if it is not set. Returns their number, WAITINGPROGRAMS_MAX at most. */
static inline size_t waitingprograms_find(struct waitingprogram *program, const char *pattern, const char *variable,
					  const char *folder, waitingprograms_accept *accept)
{
	const char *roots = getenv(variable);
	char path[PATH_MAX];
	struct stat status;
	size_t n = 0;

	roots = roots ? roots : folder;
	snprintf(path, sizeof(path), "/usr/bin/%s", pattern);
	waitingprograms_add(program, &n, path, false, accept);
	snprintf(path, sizeof(path), "%s/*/usr/bin/%s", roots, pattern);
	/* a test must not run programs as root that another user unpacked */
	if (geteuid() == 0 && stat(roots, &status) == 0 && status.st_uid == 0)
		waitingprograms_add(program, &n, path, true, accept);
	return n;
}

/* A process that waits for a line of input. out: its output, n bytes; pid: 0 if it ended. */
struct waitingrun {
	pid_t pid;
	int process;       /* descriptor of /proc/PID */
	int input, output; /* pipes to its standard input and from its standard output */
	char *out;
	size_t n;
	struct memory memory;
	uint64_t base; /* address of the first byte of the interpreter's file */
};

static inline char *waitingrun_text(const char *truth)
{
	const char *top = getenv("PJ_TOP");
	char path[PATH_MAX], *text = calloc(1, 65536);
	FILE *file;

	snprintf(path, sizeof(path), "%s/test/runtimes/%s", top ? top : ".", truth);
	file = fopen(path, "re");
	if (!file || fread(text, 1, 65535, file) == 0)
		printf("Bail out! %s\n", path);
	if (file)
		fclose(file);
	return text;
}

/* Reads the output of the process until the line "end". Returns false if the process ends before. */
static inline bool waitingrun_read(struct waitingrun *run)
{
	ssize_t n;

	run->n = 0;
	do {
		run->out = realloc(run->out, run->n + 65536);
		n = read(run->output, run->out + run->n, 65535);
		if (n > 0)
			run->n += (size_t)n;
		run->out[run->n] = '\0';
	} while (n > 0 && (run->n < 4 || strcmp(run->out + run->n - 4, "end\n") != 0));
	return n > 0;
}

/* Waits until the process sleeps in the read of its input. Returns false after 2 s. */
static inline bool waitingrun_sleeps(const struct waitingrun *run)
{
	char path[64], status[256];
	const char *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)run->pid);
	for (unsigned i = 0; i < 2000; i++) {
		FILE *file = fopen(path, "re");
		size_t n = file ? fread(status, 1, sizeof(status) - 1, file) : 0;

		if (file)
			fclose(file);
		status[n] = '\0';
		end = strrchr(status, ')');
		if (end && end[1] && end[2] == 'S')
			return true;
		usleep(1000);
	}
	return false;
}

/* Runs PROGRAM OPTION... FILE MODE DEPTH in the root of the program, in place of this process; does not return. */
static inline void waitingrun_exec(const struct waitingprogram *program, const char *const *option, const char *file,
				   const char *mode, unsigned depth)
{
	const char *argv[WAITINGRUN_OPTIONS + 5] = { program->program };
	char number[16];
	size_t n = 1;

	snprintf(number, sizeof(number), "%u", depth);
	while (option && *option && n <= WAITINGRUN_OPTIONS)
		argv[n++] = *option++;
	argv[n++] = file + strlen(program->root);
	argv[n++] = mode;
	argv[n] = number;
	if (*program->root && (chroot(program->root) != 0 || chdir("/") != 0))
		_exit(1);
	execv(program->program, (char *const *)argv);
	_exit(1);
}

/* Starts the file `truth` (LANGUAGE/FILE) with the arguments mode and depth, and waits until it waits for input.
 * option: options of the interpreter, NULL after the last; NULL: none. Returns false on failure. */
static inline bool waitingrun_start(const struct waitingprogram *program, const char *const *option, const char *truth,
				    const char *mode, unsigned depth, struct waitingrun *run)
{
	char *text = waitingrun_text(truth), inner[300];
	int in[2], out[2], fd;
	bool good;

	*run = (struct waitingrun){ .process = -1 };
	snprintf(inner, sizeof(inner), "%s/tmp/pj-truth-XXXXXX", program->root);
	fd = mkostemp(inner, O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0 || pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
		return false;
	close(fd);
	free(text);
	run->pid = fork();
	if (run->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		waitingrun_exec(program, option, inner, mode, depth);
	}
	close(in[0]);
	close(out[1]);
	run->input = in[1];
	run->output = out[0];
	good = run->pid > 0 && waitingrun_read(run) && waitingrun_sleeps(run);
	unlink(inner); /* the interpreter has read it */
	return good;
}

/* Continues the process until it waits again. Returns false if it ends. */
static inline bool waitingrun_next(struct waitingrun *run)
{
	return write(run->input, "\n", 1) == 1 && waitingrun_read(run) && waitingrun_sleeps(run);
}

/* Opens the memory of the process. Returns false on failure. */
static inline bool waitingrun_open_memory(struct waitingrun *run)
{
	char path[64];
	struct taskid id;

	snprintf(path, sizeof(path), "/proc/%d", (int)run->pid);
	run->process = open(path, O_PATH | O_CLOEXEC);
	return taskid_read(run->process, &id) && memory_open(&run->memory, run->process, &id) == TASKID_SAME;
}

/* Sets base[] to the addresses at which the process maps files that may contain the interpreter. Returns their number,
 * WAITINGRUN_BASES at most. */
static inline size_t waitingrun_bases(const struct waitingrun *run, uint64_t *base, waitingprograms_accept *accept)
{
	char path[64], line[1024];
	FILE *maps;
	size_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)run->pid);
	maps = fopen(path, "re");
	while (maps && n < WAITINGRUN_BASES && fgets(line, sizeof(line), maps)) {
		unsigned long long start, offset;
		int at = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%llx-%*x %*4s %llx %*s %*u %n", &start, &offset, &at) == 2 && at != 0 &&
		    offset == 0 && accept(str_of(line + at)))
			base[n++] = start;
	}
	if (maps)
		fclose(maps);
	return n;
}

static inline void waitingrun_end(struct waitingrun *run)
{
	if (run->process >= 0) {
		memory_close(&run->memory);
		close(run->process);
	}
	if (run->pid > 0) {
		kill(run->pid, SIGKILL);
		waitpid(run->pid, NULL, 0);
		close(run->input);
		close(run->output);
	}
	free(run->out);
}

#endif
