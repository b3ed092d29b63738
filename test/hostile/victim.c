/*
 * victim - a well-behaved program beside an attack: burns CPU in one named function, and writes its own CPU time.
 *
 *	victim FILE
 *
 * Writes the CPU time of its thread since the start, in ns (CLOCK_THREAD_CPUTIME_ID, as in schedstat), to FILE every
 * 100 ms of it, and at SIGTERM. A profile of it must have one sample for each period of that time.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stop;

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

__attribute__((noinline)) static uint64_t victim_leaf(uint64_t v)
{
	for (int i = 0; i < 200000; i++)
		v = v * 6364136223846793005u + 1442695040888963407u;
	return v;
}

__attribute__((noinline)) static uint64_t victim_caller(uint64_t v)
{
	return victim_leaf(v) ^ 1;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void report(int fd, uint64_t ns)
{
	char line[32];
	int n = snprintf(line, sizeof(line), "%20ju\n", (uintmax_t)ns);

	if (pwrite(fd, line, (size_t)n, 0) != n)
		stop = 1;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
	uint64_t v = 1, reported = 0, now = 0;

	if (fd < 0)
		return 1;
	signal(SIGTERM, on_term);
	alarm(300);
	while (!stop) {
		v = victim_caller(v);
		now = cpu_ns();
		if (now - reported > 100000000) {
			report(fd, now);
			reported = now;
		}
	}
	report(fd, cpu_ns());
	return v == 0;
}
