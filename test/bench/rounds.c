/* rounds N: the same work for ever, N times recursion and qsort's callbacks; each time its wall and CPU time in us are
 * printed. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned sink;

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static unsigned deep(unsigned n)
{
	static int v[512];

	if (n)
		return deep(n - 1) + sink;
	for (int i = 0; i < 512; i++)
		v[i] = (int)((unsigned)i * 2654435761u >> 8);
	qsort(v, 512, sizeof(*v), compare);
	return (unsigned)v[1];
}

static long long us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000;

	for (;;) {
		long long wall = us(CLOCK_MONOTONIC), cpu = us(CLOCK_PROCESS_CPUTIME_ID);

		for (long i = 0; i < n; i++)
			deep(15);
		printf("%lld %lld\n", us(CLOCK_MONOTONIC) - wall, us(CLOCK_PROCESS_CPUTIME_ID) - cpu);
		fflush(stdout);
	}
}
