/*
 * gcovexit.c - a build for coverage: a process writes its counters before _exit() or a signal ends it.
 *
 * exit() and exec() write the counters by themselves. pjrecord and pjmap end helper processes by SIGKILL, since these
 * have no state. Here kill() sends SIGUSR1 before it, whose handler writes the counters; a process without that handler
 * ends by SIGUSR1, too. A process that asks for SIGKILL when its parent ends gets SIGUSR1. The signals in `ending`, of
 * which SIGPROF ends a helper at its deadline, end a process after its counters are written.
 *
 * gcov writes no counters after a failed allocation, so fail.c of test/suite/preload lets none of its calls fail.
 */
#include <dlfcn.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAIT_STEPS 200 /* of 5 ms, until SIGKILL */

void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
int __real_kill(pid_t pid, int signal_number);
int __wrap_kill(pid_t pid, int signal_number);
int __real_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);
int __wrap_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);

static const int ending[] = { SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGPROF, SIGALRM };

static void (*stop_failures)(void);

/* Runs before gcov's destructor, since that has a priority. */
__attribute__((destructor)) static void let_gcov_succeed(void)
{
	if (stop_failures)
		stop_failures();
}

static void dump_counters(void)
{
	let_gcov_succeed();
	__gcov_dump();
}

_Noreturn void __wrap__exit(int status)
{
	dump_counters();
	__real__exit(status);
}

static void dump_at_signal(int signal_number)
{
	(void)signal_number;
	__wrap__exit(1);
}

/* Sends the signal again; it ends the process when this handler returns, since SA_RESETHAND resets its action. */
static void dump_and_end(int signal_number)
{
	dump_counters();
	raise(signal_number);
}

__attribute__((constructor)) static void prepare(void)
{
	struct sigaction end = { .sa_handler = dump_and_end, .sa_flags = (int)SA_RESETHAND }, before;

	stop_failures = (void (*)(void))dlsym(RTLD_DEFAULT, "stop_failures_for_gcov");
	signal(SIGUSR1, dump_at_signal);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
			sigaction(ending[i], &end, NULL);
}

int __wrap_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	return __real_prctl(option, option == PR_SET_PDEATHSIG && a == SIGKILL ? SIGUSR1 : a, b, c, d);
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
