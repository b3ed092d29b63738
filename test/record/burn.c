/* SPDX-License-Identifier: Apache-2.0 */
/*
 * burn - a load with known shares.
 *
 *	burn shares SECONDS
 *		half of its time in fifty(), 30 % in thirty(), 20 % in twenty(), by its own CPU clock
 *	burn deep DEPTH SECONDS
 *		burns at the end of DEPTH calls, until it has used so much CPU time
 *	burn storm SECONDS RATE
 *		forks and executes itself (burn child) RATE times a second
 *	burn child
 *		burns 1 ms and ends
 *	burn spin SECONDS
 *		one function, as fast as it goes
 *	burn cpu SECONDS
 *		the same, until it has used so much CPU time: the number of samples does not depend on other programs
 *	burn crowd N MAPS SECONDS
 *		N processes that sleep, each with MAPS executable mappings of its own
 *	burn pingpong N DEPTH
 *		two processes on one CPU pass a byte to and fro N times, at the end of DEPTH calls; prints the ns of CPU
 *		time and of the wall for each of the 2 N switches
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NEVER_INLINED __attribute__((noinline, noclone))

static volatile uint64_t sink;

static uint64_t now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Each its own code, so that a compiler cannot make them one. */
NEVER_INLINED static void fifty(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i * 3;
}

NEVER_INLINED static void thirty(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink ^= i * 5;
}

NEVER_INLINED static void twenty(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink -= i * 7;
}

/* Runs f until it has used that much CPU time: in small parts, so that it overshoots by little, and what it overshoots
 * is given back the next time. */
static void use(void (*f)(unsigned), uint64_t *debt, uint64_t ns)
{
	uint64_t start = now(CLOCK_THREAD_CPUTIME_ID), used = 0;

	*debt += ns;
	while (used < *debt) {
		f(20000);
		used = now(CLOCK_THREAD_CPUTIME_ID) - start;
		if (used > *debt)
			break;
	}
	*debt = used > *debt ? 0 : *debt - used;
}

static void shares(double seconds)
{
	uint64_t end = now(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9), debt[3] = { 0 };

	while (now(CLOCK_MONOTONIC) < end) {
		use(fifty, debt, 5000000);
		use(thirty, debt + 1, 3000000);
		use(twenty, debt + 2, 2000000);
	}
}

NEVER_INLINED static void deep(unsigned depth, uint64_t end)
{
	if (depth)
		deep(depth - 1, end);
	else
		while (now(CLOCK_PROCESS_CPUTIME_ID) < end)
			fifty(20000);
	sink++; /* not a tail call */
}

static void storm(const char *self, double seconds, unsigned rate)
{
	uint64_t start = now(CLOCK_MONOTONIC), end = start + (uint64_t)(seconds * 1e9), made = 0;

	while (now(CLOCK_MONOTONIC) < end) {
		uint64_t due = (now(CLOCK_MONOTONIC) - start) * rate / 1000000000u;

		for (; made < due; made++) {
			pid_t pid = fork();

			if (pid == 0) {
				execl(self, "burn", "child", (char *)NULL);
				_exit(127);
			}
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
		}
		usleep(500);
	}
	while (wait(NULL) > 0 || errno == EINTR)
		;
	printf("%ju\n", (uintmax_t)made);
}

static void child(void)
{
	uint64_t start = now(CLOCK_THREAD_CPUTIME_ID);

	while (now(CLOCK_THREAD_CPUTIME_ID) - start < 1000000)
		fifty(2000);
}

/* Says "ready" when all are there. */
static void crowd(unsigned n, unsigned maps, double seconds)
{
	int self = open("/proc/self/exe", O_RDONLY);

	for (unsigned i = 0; i < n; i++) {
		if (fork())
			continue;
		for (unsigned k = 0; k < maps; k++) {
			mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, self, 0);
			mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0); /* keeps its neighbours apart */
		}
		usleep((useconds_t)(seconds * 1e6));
		_exit(0);
	}
	sleep(1);
	puts("ready");
	fflush(stdout);
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

NEVER_INLINED static void pass_on(unsigned depth, int from, int to, unsigned n)
{
	char c = 0;

	if (depth)
		pass_on(depth - 1, from, to, n);
	else
		while (n-- && read(from, &c, 1) == 1 && write(to, &c, 1) == 1)
			;
	sink++; /* not a tail call */
}

static uint64_t cpu_ns(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

static void pingpong(unsigned n, unsigned depth)
{
	uint64_t start = now(CLOCK_MONOTONIC), used = cpu_ns(RUSAGE_SELF), wall;
	int there[2], back[2];
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (pipe(there) || pipe(back) || sched_setaffinity(0, sizeof(one), &one))
		exit(1);
	pid_t pid = fork();
	if (pid == 0) {
		pass_on(depth, there[0], back[1], n);
		_exit(0);
	}
	if (pid < 0 || write(there[1], "x", 1) != 1)
		exit(1);
	pass_on(depth, back[0], there[1], n);
	wall = now(CLOCK_MONOTONIC) - start;
	waitpid(pid, NULL, 0);
	used = cpu_ns(RUSAGE_SELF) + cpu_ns(RUSAGE_CHILDREN) - used;
	printf("%ju %ju\n", (uintmax_t)(used / n / 2), (uintmax_t)(wall / n / 2));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "shares") == 0 && argc == 3)
		shares(atof(argv[2]));
	else if (strcmp(what, "deep") == 0 && argc == 4)
		deep((unsigned)atoi(argv[2]), now(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)(atof(argv[3]) * 1e9));
	else if (strcmp(what, "storm") == 0 && argc == 4)
		storm(argv[0], atof(argv[2]), (unsigned)atoi(argv[3]));
	else if (strcmp(what, "spin") == 0 && argc == 3)
		for (uint64_t end = now(CLOCK_MONOTONIC) + (uint64_t)(atof(argv[2]) * 1e9); now(CLOCK_MONOTONIC) < end;)
			fifty(20000);
	else if (strcmp(what, "cpu") == 0 && argc == 3)
		while ((double)now(CLOCK_PROCESS_CPUTIME_ID) < atof(argv[2]) * 1e9)
			fifty(20000);
	else if (strcmp(what, "crowd") == 0 && argc == 5)
		crowd((unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]), atof(argv[4]));
	else if (strcmp(what, "pingpong") == 0 && argc == 4)
		pingpong((unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]));
	else if (strcmp(what, "child") == 0)
		child();
	else
		return 2;
	return 0;
}
