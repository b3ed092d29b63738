/* pythons.h - finds the CPython interpreters of this machine; runs truth.py in one until it stops itself (SIGSTOP). */
#ifndef PJ_TEST_PYTHONS_H
#define PJ_TEST_PYTHONS_H

#include "runtimes/cpython/cpython.h"
#include "test/lib/tap.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PYTHONS_MAX 32

/* A program python3.N, and the folder that is its root file system ("": that of this machine). */
struct python {
	char root[256], program[256];
	char name[300]; /* name of the program in names of tests */
	unsigned minor;
};

static inline void add_pythons(struct python *python, size_t *n, const char *pattern, bool rooted)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc && *n < PYTHONS_MAX; i++) {
		const char *path = found.gl_pathv[i], *program = rooted ? strstr(path, "/usr/bin/") : path;
		const char *version = strrchr(path, '/');
		struct python *one = &python[*n];
		unsigned minor;
		char rest;

		if (!version || sscanf(version, "/python3.%u%c", &minor, &rest) != 1 || minor < 8 || access(path, X_OK))
			continue;
		snprintf(one->root, sizeof(one->root), "%.*s", (int)(program - path), path);
		snprintf(one->program, sizeof(one->program), "%s", program);
		snprintf(one->name, sizeof(one->name), "%s", path);
		one->minor = minor;
		++*n;
	}
	globfree(&found);
}

/* Finds CPython 3.8 and later: in /usr/bin and /usr/local/bin, those of pyenv, and those that rootfs.sh unpacked in
 * PJ_CPYTHONS (default /var/tmp/pj-cpython). Returns their number. */
static inline size_t pythons_find(struct python *python)
{
	const char *roots = getenv("PJ_CPYTHONS"), *home = getenv("HOME");
	char pattern[PATH_MAX];
	struct stat status;
	size_t n = 0;

	add_pythons(python, &n, "/usr/bin/python3.*", false);
	add_pythons(python, &n, "/usr/local/bin/python3.*", false);
	snprintf(pattern, sizeof(pattern), "%s/.pyenv/versions/3.*/bin/python3.*", home ? home : "/root");
	add_pythons(python, &n, pattern, false);
	snprintf(pattern, sizeof(pattern), "%s/*/usr/bin/python3.*", roots ? roots : "/var/tmp/pj-cpython");
	/* a test must not run programs as root that another user unpacked */
	if (geteuid() == 0 && stat(roots ? roots : "/var/tmp/pj-cpython", &status) == 0 && status.st_uid == 0)
		add_pythons(python, &n, pattern, true);
	return n;
}

/* A process that runs truth.py and has stopped itself. out: its output, n bytes; pid: 0 if it ended. */
struct pythonrun {
	pid_t pid;
	int process; /* descriptor of /proc/PID */
	char *out;
	size_t n;
	struct memory memory;
	char path[512]; /* path of the file that was opened */
	uint64_t base;  /* address of the first byte of that file */
};

/* Returns the text of truth.py. The child gets it as an argument, since a Python in another root cannot open it. */
static inline char *truth_text(void)
{
	const char *top = getenv("PJ_TOP");
	char path[PATH_MAX], *text = calloc(1, 65536);
	FILE *file;

	snprintf(path, sizeof(path), "%s/test/runtimes/cpython/truth.py", top ? top : ".");
	file = fopen(path, "re");
	if (!file || fread(text, 1, 65535, file) == 0)
		printf("Bail out! %s\n", path);
	if (file)
		fclose(file);
	return text;
}

/* Reads the output of the process until the line "end". */
static inline bool read_truth(struct pythonrun *run, int fd)
{
	ssize_t n;

	run->n = 0;
	do {
		run->out = realloc(run->out, run->n + 65536);
		n = read(fd, run->out + run->n, 65535);
		if (n > 0)
			run->n += (size_t)n;
		run->out[run->n] = '\0';
	} while (n > 0 && (run->n < 4 || strcmp(run->out + run->n - 4, "end\n") != 0));
	return n > 0;
}

static int out_of[2] = { -1, -1 };

static inline bool wait_stopped(struct pythonrun *run)
{
	int status;

	if (!read_truth(run, out_of[0]))
		return false;
	return waitpid(run->pid, &status, WUNTRACED) == run->pid && WIFSTOPPED(status);
}

/* Runs truth.py with the arguments mode and depth until it stops itself. Returns false if it ends without a stop. */
static inline bool python_run(const struct python *python, const char *mode, unsigned depth, struct pythonrun *run)
{
	char number[16], *text = truth_text();

	*run = (struct pythonrun){ .process = -1 };
	snprintf(number, sizeof(number), "%u", depth);
	if (pipe2(out_of, O_CLOEXEC) != 0)
		return false;
	run->pid = fork();
	if (run->pid == 0) {
		dup2(out_of[1], 1);
		if (*python->root && (chroot(python->root) != 0 || chdir("/") != 0))
			_exit(1);
		execl(python->program, python->program, "-c", text, mode, number, (char *)NULL);
		_exit(1);
	}
	close(out_of[1]);
	free(text);
	return run->pid > 0 && wait_stopped(run);
}

/* Continues the process until it stops again. Returns false if it ends. */
static inline bool python_next(struct pythonrun *run)
{
	return kill(run->pid, SIGCONT) == 0 && wait_stopped(run);
}

/* Opens CPython by a mapping, a line of /proc/PID/maps, if the file of the mapping has it. */
static inline enum cpython_answer open_mapping(struct pythonrun *run, struct cpython *cpython, const char *line)
{
	struct cpython_candidate candidate;
	unsigned long long start, offset;
	int at = 0;

	if (sscanf(line, "%llx-%*x %*4s %llx %*s %*u %n", &start, &offset, &at) != 2 || at == 0 || offset != 0)
		return CPYTHON_OTHER_FILE;
	snprintf(run->path, sizeof(run->path), "%.*s", (int)strcspn(line + at, "\n"), line + at);
	run->base = start;
	candidate = (struct cpython_candidate){ start, str_of(run->path) };
	return cpython_is_library(candidate.path) ? cpython_open(cpython, &run->memory, &candidate) :
						    CPYTHON_OTHER_FILE;
}
/* Opens the memory of the process, and CPython by the mappings of the process. */
static inline enum cpython_answer python_open(struct pythonrun *run, struct cpython *cpython)
{
	enum cpython_answer answer = CPYTHON_OTHER_FILE;
	char path[64], line[1024];
	struct taskid id;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d", (int)run->pid);
	run->process = open(path, O_PATH | O_CLOEXEC);
	if (!taskid_read(run->process, &id) || memory_open(&run->memory, run->process, &id) != TASKID_SAME)
		return CPYTHON_UNREADABLE;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)run->pid);
	maps = fopen(path, "re");
	while (maps && answer == CPYTHON_OTHER_FILE && fgets(line, sizeof(line), maps))
		answer = open_mapping(run, cpython, line);
	if (maps)
		fclose(maps);
	return answer;
}

static inline void python_end(struct pythonrun *run)
{
	if (run->process >= 0) {
		memory_close(&run->memory);
		close(run->process);
	}
	if (run->pid > 0) {
		kill(run->pid, SIGKILL);
		waitpid(run->pid, NULL, 0);
	}
	close(out_of[0]);
	free(run->out);
	run->out = NULL;
}

#endif
