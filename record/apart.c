/* SPDX-License-Identifier: Apache-2.0 */
#include "apart.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

void apart_become(const char *name, int fd)
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
	if (fd != APART_FD)
		dup2(fd, APART_FD);
	syscall(SYS_close_range, (unsigned)APART_FD + 1, ~0u, 0u);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	open("/dev/null", O_RDONLY);
	open("/dev/null", O_WRONLY);
}
