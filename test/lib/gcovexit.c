/*
 * gcovexit.c - a build for coverage: _exit() writes the counters first, and SIGKILL gives a process time to do so.
 *
 * exit() and exec() write the counters by themselves. pjrecord and pjmap end helper processes by SIGKILL, since these
 * have no state. Here kill() sends SIGUSR1 before it, whose handler writes the counters. A process without that handler
 * ends by SIGUSR1, too.
 */
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAIT_STEPS 40 /* of 5 ms, until SIGKILL */

void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
int __real_kill(pid_t pid, int signal_number);
int __wrap_kill(pid_t pid, int signal_number);

_Noreturn void __wrap__exit(int status)
{
	__gcov_dump();
	__real__exit(status);
}

static void dump_at_signal(int signal_number)
{
	(void)signal_number;
	__wrap__exit(1);
}

__attribute__((constructor)) static void catch_signal(void)
{
	signal(SIGUSR1, dump_at_signal);
}

int __wrap_kill(pid_t pid, int signal_number)
{
	static const struct timespec step = { .tv_nsec = 5000000 };
	siginfo_t info = { 0 };

	if (signal_number != SIGKILL || pid <= 0)
		return __real_kill(pid, signal_number);
	if (__real_kill(pid, SIGUSR1) == 0)
		for (int i = 0; i < WAIT_STEPS; i++) {
			/* Fails for a process that is no child of this one. */
			if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid)
				break;
			nanosleep(&step, NULL);
		}
	return __real_kill(pid, SIGKILL);
}
