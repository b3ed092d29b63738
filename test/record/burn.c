/* SPDX-License-Identifier: Apache-2.0 */
/*
 * burn - a load that is known.
 *
 *	burn shares SECONDS           half of its time in fifty(), 30 % in thirty(), 20 % in twenty(), by its own CPU clock
 *	burn deep DEPTH SECONDS       burns at the end of DEPTH calls
 *	burn storm SECONDS RATE       forks and execs itself (burn child) so many times a second
 *	burn child                    burns 1 ms and ends
 *	burn spin SECONDS             one function, as fast as it goes
 *	burn crowd N MAPS SECONDS     N processes that sleep, each with so many executable mappings of its own
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* Runs f until it has used that much CPU time: in small parts, so that it overshoots by little, and what it overshoots is
 * given back the next time. */
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
		while (now(CLOCK_MONOTONIC) < end)
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

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "shares") == 0 && argc == 3)
		shares(atof(argv[2]));
	else if (strcmp(what, "deep") == 0 && argc == 4)
		deep((unsigned)atoi(argv[2]), now(CLOCK_MONOTONIC) + (uint64_t)(atof(argv[3]) * 1e9));
	else if (strcmp(what, "storm") == 0 && argc == 4)
		storm("/proc/self/exe", atof(argv[2]), (unsigned)atoi(argv[3]));
	else if (strcmp(what, "spin") == 0 && argc == 3)
		for (uint64_t end = now(CLOCK_MONOTONIC) + (uint64_t)(atof(argv[2]) * 1e9); now(CLOCK_MONOTONIC) < end;)
			fifty(20000);
	else if (strcmp(what, "crowd") == 0 && argc == 5)
		crowd((unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]), atof(argv[4]));
	else if (strcmp(what, "child") == 0)
		child();
	else
		return 2;
	return 0;
}
