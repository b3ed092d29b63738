/* SPDX-License-Identifier: Apache-2.0 */
#include "common/process/child.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/process/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OUT_MAX ((size_t)1 << 30)
#define ERR_MAX ((size_t)64 << 10)
/* longest time between two reads of *stop, in ms */
#define STOP_MS 100

/* Returns true if a program inherits this environment variable, given as "NAME=value": if its name is one of a few
 * necessary names, or is `more` (NULL: no further name). The programs of pj parse hostile input, so they get no secrets
 * (PJ_STORE_AUTH, the password of a proxy). */
static bool is_inherited(const char *variable, const char *more)
{
	static const char *const names[] = { "PATH", "HOME", "XDG_CACHE_HOME", "TMPDIR", "TZ", "LANG", "LC_ALL",
					     "LC_CTYPE", "LD_LIBRARY_PATH", SANDBOX_REPORTED,
					     /* variables that only test builds use */
					     "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS",
					     "LLVM_PROFILE_FILE", "GCOV_PREFIX" };
	size_t n = strcspn(variable, "=");

	for (size_t i = 0; i < countof(names); i++)
		if (strlen(names[i]) == n && memcmp(variable, names[i], n) == 0)
			return true;
	return more && strlen(more) == n && memcmp(variable, more, n) == 0;
}

/* Returns the part of environ that a program inherits (is_inherited). more: name of one further variable that it
 * inherits; NULL: none. The caller frees the list, but not the strings, which belong to environ. */
static char **child_environment(const char *more)
{
	char **list;
	size_t n = 0;

	while (environ[n])
		n++;
	list = mem_alloc(sizeof(*list), n + 1);
	n = 0;
	for (size_t i = 0; environ[i]; i++)
		if (is_inherited(environ[i], more))
			list[n++] = environ[i];
	list[n] = NULL;
	return list;
}

/* Starts argv[0] with an empty stdin and default signal handling. Its stdout is the pipe out[], its stderr the pipe
 * err[]. more: as in child_environment. Sets *pid. Returns 0, or an errno on failure. */
static int child_start(pid_t *pid, char *const argv[], const char *more, const int out[2], const int err[2])
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	char **env = child_environment(more);
	sigset_t set;
	int error;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, out[1], 1);
	posix_spawn_file_actions_adddup2(&files, err[1], 2);
	posix_spawnattr_init(&attr);
	sigemptyset(&set);
	posix_spawnattr_setsigmask(&attr, &set);
	sigaddset(&set, SIGPIPE);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGCHLD);
	posix_spawnattr_setsigdefault(&attr, &set);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	error = posix_spawn(pid, argv[0], &files, &attr, argv, env);
	free(env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return error;
}

/* Reads once from fd and appends the bytes to text; drops them if text already has max bytes. Returns false at the end
 * of the stream, or if fd cannot be read; in the latter case sets *error to the errno. */
static bool child_take(int fd, struct text *text, size_t max, int *error)
{
	char buf[65536];
	ssize_t got = read(fd, buf, sizeof(buf));

	if (got < 0 && errno != EINTR && errno != EAGAIN)
		*error = errno;

	if (got > 0 && text->n < max)
		text_bytes(text, buf, (size_t)got);
	return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

/* Reads the output of program `pid` from the pipes out and err until both end. Kills the program at time `end`
 * (clock_now_ms), when *stop is set, or when its output exceeds OUT_MAX. */
static void listen_to(struct child *child, pid_t pid, int out, int err, uint64_t end, const atomic_bool *stop)
{
	struct pollfd polled[2] = { { .fd = out, .events = POLLIN }, { .fd = err, .events = POLLIN } };

	while (polled[0].fd >= 0 || polled[1].fd >= 0) {
		uint64_t now = clock_now_ms();

		child->late = now >= end;
		child->large = child->out.n >= OUT_MAX;
		if (child->late || child->large || *stop) {
			kill(pid, SIGKILL);
			return;
		}
		if (poll(polled, 2, end - now < STOP_MS ? (int)(end - now) : STOP_MS) < 0 && errno != EINTR) {
			child->error = errno;
			kill(pid, SIGKILL);
			return;
		}
		if (polled[0].fd >= 0 && polled[0].revents && !child_take(out, &child->out, OUT_MAX, &child->error))
			polled[0].fd = -1;
		if (polled[1].fd >= 0 && polled[1].revents && !child_take(err, &child->err, ERR_MAX, &child->error))
			polled[1].fd = -1;
	}
}

/* Waits for the end of program `pid`. To be called after listen_to. Kills the program at time `end` (clock_now_ms), or
 * when *stop is set. Returns the status from waitpid(); sets child->error if the status is lost. */
static int wait_for(struct child *child, pid_t pid, uint64_t end, const atomic_bool *stop)
{
	int status = 0;
	pid_t got;

	while ((got = waitpid(pid, &status, WNOHANG)) == 0 || (got < 0 && errno == EINTR)) {
		if (clock_now_ms() >= end || *stop) {
			child->late = child->late || clock_now_ms() >= end;
			kill(pid, SIGKILL);
		}
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	if (got < 0) /* SIGCHLD is ignored, so the kernel has reaped the program and its status is lost */
		child->error = errno;
	return status;
}

/* Returns true if *stop is set now or within the next STOP_MS. */
static bool is_stopped(const atomic_bool *stop)
{
	for (unsigned ms = 0; ms < STOP_MS && !*stop; ms += 5)
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	return *stop;
}

void child_run(struct child *child, char *const argv[], unsigned seconds, const atomic_bool *stop)
{
	child_run_with(child, argv, NULL, seconds, stop);
}

void child_run_with(struct child *child, char *const argv[], const char *more, unsigned seconds,
		    const atomic_bool *stop)
{
	uint64_t end = clock_now_ms() + 1000 * (uint64_t)seconds;
	int out[2], err[2], status;
	pid_t pid;

	*child = (struct child){ .status = -1 };
	if (pipe2(out, O_CLOEXEC) < 0) {
		child->error = errno;
		return;
	}
	if (pipe2(err, O_CLOEXEC) < 0) {
		child->error = errno;
		close(out[0]);
		close(out[1]);
		return;
	}
	child->error = child_start(&pid, argv, more, out, err);
	close(out[1]);
	close(err[1]);
	if (!child->error) {
		listen_to(child, pid, out[0], err[0], end, stop);
		status = wait_for(child, pid, end, stop);
		child->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		/* without an exit status, or if the output could not be read completely: -1 */
		child->status = WIFEXITED(status) && !child->error ? WEXITSTATUS(status) : -1;
		child->stopped = child->status != 0 && !child->error && is_stopped(stop);
	}
	close(out[0]);
	close(err[0]);
}

void child_free(struct child *child)
{
	text_free(&child->out);
	text_free(&child->err);
}
