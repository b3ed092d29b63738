/*
 * share - a load of a known size: share MS burns so many milliseconds of CPU time, whatever else runs here, and prints
 * how many nanoseconds it was given in all, as the kernel counted them.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static volatile unsigned sink;

static unsigned long long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (unsigned long long)t.tv_sec * 1000000000 + (unsigned long long)t.tv_nsec;
}

__attribute__((noinline)) static void work(void)
{
	for (unsigned i = 0; i < 100000; i++)
		sink += i;
}

int main(int argc, char **argv)
{
	unsigned long long end = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000000 : 0;
	struct rusage u;

	while (cpu_ns() < end)
		work();
	getrusage(RUSAGE_SELF, &u);
	printf("%llu\n", (unsigned long long)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
				 (unsigned long long)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000);
	return 0;
}
