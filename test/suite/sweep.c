/*
 * sweep FAIL.so STEPS KIND TOOL ARGUMENTS...: runs a tool again and again, each time with another allocation or call
 * that fails (fail.c).
 *
 * KIND: alloc eio enospc eintr short. What must hold, each time:
 * - the tool exits by itself, with status 0 or 1, within 20 s;
 * - with status 0 its output is that of an undisturbed run, or a message tells what is missing (names of a file that
 * cannot be read);
 * - with status 1 it printed a message that begins with its name, and its output is the beginning of that of an
 * undisturbed run;
 * - EINTR and short counts change nothing.
 * With OUT=FILE in the environment the output is that file (the tool has -o FILE) and is complete or absent. Prints
 * what was seen.
 */
#include "common/text.h"
#include "common/files/fullio.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct run {
	int status; /* as wait has it */
	struct text out, err;
};

static const char *so, *out_file;

static void take_file(const char *path, struct text *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	text->n = 0;
	if (fd < 0)
		return;
	fullio_read(fd, text, SIZE_MAX);
	close(fd);
}

static void run(struct run *r, char **argv, const char *fail)
{
	pid_t pid;

	if (out_file)
		unlink(out_file);
	pid = fork();
	if (pid == 0) {
		int out = open("sweep.out", O_WRONLY | O_CREAT | O_TRUNC, 0600),
		    err = open("sweep.err", O_WRONLY | O_CREAT | O_TRUNC, 0600);

		dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
		dup2(out, 1);
		dup2(err, 2);
		alarm(20);
		setenv("LD_PRELOAD", so, 1);
		setenv("PJ_FAIL_COUNT", "sweep.count", 1);
		if (fail)
			setenv("PJ_FAIL", fail, 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &r->status, 0) != pid)
		abort();
	take_file(out_file ? out_file : "sweep.out", &r->out);
	take_file("sweep.err", &r->err);
}

static const char *assess(const struct run *plain, const struct run *r, const char *kind, const char *tool)
{
	bool same = str_eq(text_view(&plain->out), text_view(&r->out)),
	     says = !str_eq(text_view(&plain->err), text_view(&r->err)),
	     harmless = strcmp(kind, "eintr") == 0 || strcmp(kind, "short") == 0;
	struct str err = text_view(&r->err);
	int status;

	if (WIFSIGNALED(r->status))
		return WTERMSIG(r->status) == SIGALRM ? "does not end" : "ends by a signal";
	status = WEXITSTATUS(r->status);
	if (status == WEXITSTATUS(plain->status))
		return same || (says && !harmless) ? NULL : "another output without a word";
	if (harmless)
		return "gives up";
	if (status != 1)
		return "another status than 0 and 1";
	if (!str_starts(err, str_of(tool)) || str_find_str(err, STR(": ")) < 0)
		return "no message";
	if (out_file ? r->out.n != 0 && !same : !str_starts(text_view(&plain->out), text_view(&r->out)))
		return "what it wrote is not the beginning of its output";
	return NULL;
}

int main(int argc, char **argv)
{
	static struct run plain, r;
	unsigned long steps, all, allocs = 0, calls = 0, stride, bad = 0, gave_up = 0, runs = 0;
	const char *kind, *tool;
	struct text count = { 0 };

	if (argc < 5)
		return 2;
	so = argv[1];
	steps = strtoul(argv[2], NULL, 10);
	kind = argv[3];
	argv += 4;
	tool = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	out_file = getenv("OUT");
	run(&plain, argv, NULL);
	take_file("sweep.count", &count);
	text_char(&count, 0);
	if (sscanf(count.p, "%lu %lu", &allocs, &calls) != 2 || WIFSIGNALED(plain.status) ||
	    WEXITSTATUS(plain.status) > 1) {
		printf("%s does not run with %s\n", tool, so);
		return 1;
	}
	all = strcmp(kind, "alloc") == 0 ? allocs : calls;
	stride = all / steps + 1;
	for (unsigned long i = 1; i <= all; i += i < 10 ? 1 : stride) {
		char fail[64];
		const char *why;

		snprintf(fail, sizeof(fail), "%s:%lu", kind, i);
		run(&r, argv, fail);
		why = assess(&plain, &r, kind, tool);
		runs++;
		gave_up += r.status != plain.status;
		if (why && bad++ < 5)
			printf("PJ_FAIL=%s of %lu: %s: status %#x, %zu of %zu bytes: %.*s\n", fail, all, why,
			       (unsigned)r.status, r.out.n, plain.out.n, (int)(r.err.n < 200 ? r.err.n : 200),
			       r.err.n ? r.err.p : "");
	}
	printf("%lu of %lu: %lu gave up, %lu wrong\n", runs, all, gave_up, bad);
	return bad > 0;
}
