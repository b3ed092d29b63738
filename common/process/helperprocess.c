/* SPDX-License-Identifier: Apache-2.0 */
#include "common/process/helperprocess.h"

#include "common/debug.h"
#include "common/process/taskid.h"
#include "common/process/urgency.h"
#include "common/syscalls.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Makes the kernel kill this process first if memory runs out. Has no effect if another user owns /proc/self. */
static void be_first_victim(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "1000", 4) < 0) {
		/* a failed write is ignored: the process keeps the oom_score_adj of its parent */
	}
	if (fd >= 0)
		close(fd);
}

/* Moves the descriptors fd[] to HELPERPROCESS_FD and the following numbers, and closes all descriptors with higher
 * numbers. Duplicates them to free numbers first, because fd[] may contain the new numbers. */
static void helperprocess_place(const int *fd, size_t n)
{
	int moved[HELPERPROCESS_FDS_MAX];

	for (size_t i = 0; i < n; i++)
		moved[i] = fcntl(fd[i], F_DUPFD, HELPERPROCESS_FD + HELPERPROCESS_FDS_MAX);
	for (size_t i = 0; i < n; i++)
		dup2(moved[i], HELPERPROCESS_FD + (int)i);
	syscall(SYS_close_range, (unsigned)(HELPERPROCESS_FD + n), ~0u, 0u);
}

void helperprocess_become(const char *name, int fd)
{
	helperprocess_become_with(name, &fd, 1);
}

void helperprocess_become_with(const char *name, const int *fd, size_t n)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2 };
	struct rlimit none = { 0, 0 };
	sigset_t no_signals;

	for (size_t i = 0; i < countof(ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&no_signals);
	sigprocmask(SIG_SETMASK, &no_signals, NULL);
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_NAME, name);
	be_first_victim();
	helperprocess_place(fd, n);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	open("/dev/null", O_RDONLY);
	open("/dev/null", O_WRONLY);
}

static pid_t helperprocess_run(const struct helperprocess *helperprocess, pid_t pid)
{
	if (pid == 0) {
		helperprocess_become_with(helperprocess->name, helperprocess->fd, helperprocess->fds);
		urgency_lower(helperprocess->urgency);
		helperprocess->run(helperprocess->to);
		_exit(0);
	}
	debug(DEBUG_HELPERS, "%s: process %d", helperprocess->name, (int)pid);
	return pid > 0 ? pid : 0;
}

pid_t helperprocess_start(const struct helperprocess *helperprocess)
{
	return helperprocess_run(helperprocess, fork());
}

pid_t helperprocess_start_sibling(const struct helperprocess *helperprocess)
{
#ifdef __s390__
	return helperprocess_run(helperprocess, (pid_t)syscall(SYS_clone, 0, CLONE_PARENT | SIGCHLD, NULL, NULL, 0));
#else
	return helperprocess_run(helperprocess, (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, NULL, NULL, 0));
#endif
}

bool helperprocess_is_blocked(pid_t pid)
{
	char path[64], text[128], state;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	state = taskid_state((struct str){ text, got > 0 ? (size_t)got : 0 });
	return state && state != 'R';
}

uint64_t helperprocess_memory(void)
{
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	char buf[128] = "";
	ssize_t got = fd >= 0 ? read(fd, buf, sizeof(buf) - 1) : -1;

	if (fd >= 0)
		close(fd);
	return got > 0 ? strtoull(buf, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}
