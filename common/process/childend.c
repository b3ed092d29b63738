/* SPDX-License-Identifier: Apache-2.0 */
#include "common/process/childend.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

void childend_prepare(void)
{
	signal(SIGCHLD, SIG_IGN);
}

int childend_watch(pid_t child)
{
	return (int)syscall(SYS_pidfd_open, child, 0);
}

void childend_wait(int pidfd)
{
	struct pollfd polled = { .fd = pidfd, .events = POLLIN };

	if (pidfd < 0)
		return;
	poll(&polled, 1, CHILDEND_MS);
	close(pidfd);
}
