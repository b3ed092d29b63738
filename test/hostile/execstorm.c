/*
 * execstorm.c - many processes that exec all the time (security: pjmap looks through /proc again and again).
 *
 * execstorm SECS: some hundred processes, each of which execs itself after a time drawn by lot, and some that last long
 * enough to stay candidates for a JVM.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES = 300, STARTS = 12 /* each 10 ms */ };

static unsigned lot(unsigned *seed, unsigned below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

int main(int argc, char **argv)
{
	const char *text = getenv("PJ_SEED");
	unsigned seed = text ? (unsigned)atoi(text) : 1, n = 0;
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 0);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc > 2) { /* one of them */
		seed += (unsigned)getpid();
		usleep(lot(&seed, 600) * 1000);
		return 0;
	}
	while (argc > 1 && time(NULL) < end) {
		for (unsigned i = 0; i < STARTS && n < PROCESSES; i++) {
			pid_t pid = fork();

			if (pid == 0) {
				execl("/proc/self/exe", "execstorm", "0", "one", (char *)NULL);
				_exit(1);
			}
			n += pid > 0;
		}
		while (n && waitpid(-1, NULL, WNOHANG) > 0)
			n--;
		usleep(10000);
	}
	return 0;
}
