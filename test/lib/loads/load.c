/* load.c - what an unwinder meets, for test/unwind/dwarf/perfstacks.t: built without frame pointers, recorded by perf.
 * Argument: ms of CPU. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))

static volatile uint64_t sink;
static volatile unsigned zero;

static KEEP uint64_t spin(unsigned n)
{
	uint64_t x = sink + n;

	for (unsigned i = 0; i < n; i++)
		x = x * 6364136223846793005u + i;
	return x;
}

static int compare(const void *a, const void *b)
{
	sink += spin(20);
	return *(const int *)a - *(const int *)b;
}

static KEEP void callback_through_libc(void)
{
	int v[200];

	for (unsigned i = 0; i < 200; i++)
		v[i] = (int)(i * 7919 % 200);
	qsort(v, 200, sizeof(*v), compare);
	sink += (uint64_t)v[zero];
}

static KEEP uint64_t deep(unsigned n)
{
	char pad[24];

	memset(pad, (int)n, sizeof(pad));
	return n == 0 ? spin(5000) : deep(n - 1) + (uint64_t)pad[zero];
}

static KEEP void variable(unsigned n)
{
	char v[n + 1];
	char *a = __builtin_alloca(n);

	memset(v, 1, n);
	memset(a, 2, n);
	sink += spin(2000) + (uint64_t)v[n / 2] + (uint64_t)a[zero];
}

static KEEP void realigned(unsigned n)
{
	_Alignas(64) volatile char v[64];

	for (unsigned i = 0; i < 64; i++)
		v[i] = (char)n;
	variable(n);
	sink += (uint64_t)v[zero] + spin(500);
}

/* gcc: CFA is an expression */
static KEEP void realigned_variable(unsigned n)
{
	_Alignas(64) volatile char v[64];
	char *a = __builtin_alloca(n);

	v[zero] = 1;
	memset(a, 2, n);
	sink += (uint64_t)v[zero] + (uint64_t)a[zero] + spin(2000);
}

static KEEP void through_plt(void)
{
	char buf[64];

	for (unsigned i = 0; i < 2000; i++) {
		memset(buf, (int)i, 1 + zero);
		sink += (uint64_t)getppid() & 1;
		sink += strlen("abc" + zero) + (uint64_t)abs((int)i);
	}
}

static KEEP void at_alarm(int sig)
{
	(void)sig;
	sink += spin(400000);
	callback_through_libc();
}

int main(int argc, char **argv)
{
	struct sigaction on = { .sa_handler = at_alarm };
	struct itimerval often = { { 0, 20000 }, { 0, 20000 } };
	clock_t until = (argc > 1 ? atoi(argv[1]) : 500) * (CLOCKS_PER_SEC / 1000);
	stack_t other = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };

	if (argc > 2 && sigaltstack(&other, NULL) == 0)
		on.sa_flags = SA_ONSTACK;
	sigaction(SIGALRM, &on, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (clock() < until) {
		callback_through_libc();
		sink += deep(50);
		for (unsigned i = 1; i < 200; i += 20) {
			variable(i);
			realigned(i);
			realigned_variable(i);
		}
		through_plt();
	}
	return 0;
}
