/* child.h - runs a function in a child process, and stores its output and exit status: for tests of code that exits. */
#ifndef PJ_CHILD_H
#define PJ_CHILD_H

#include "common/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
	int status; /* exit status, or 128 + number of the signal */
	struct str out, err;
	char buf[2][256 * 1024];
};

static inline struct str child_text(FILE *file, char *buf, size_t cap)
{
	rewind(file);
	return (struct str){ buf, fread(buf, 1, cap, file) };
}

/* Runs f(arg) in a child process and sets *child. If f returns, the status is 0. */
static inline void child_run(struct child *child, void (*f)(void *), void *arg)
{
	FILE *out = tmpfile(), *err = tmpfile();
	pid_t pid;
	int status = 0;

	if (!out || !err)
		abort();
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		abort();
	if (pid == 0) {
		dup2(fileno(out), STDOUT_FILENO);
		dup2(fileno(err), STDERR_FILENO);
		f(arg);
		fflush(NULL);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	child->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	child->out = child_text(out, child->buf[0], sizeof(child->buf[0]));
	child->err = child_text(err, child->buf[1], sizeof(child->buf[1]));
	fclose(out);
	fclose(err);
}

#endif
