/* pointers.c - work whose every function keeps a frame pointer, when it is built so: no library is at work. Argument:
 * ms of CPU. For test/record/record-verify.t. */
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#define KEEP __attribute__((noinline, noclone))

static volatile unsigned long sink;
static volatile sig_atomic_t over;

static void end(int signal)
{
	over = signal;
}

static KEEP unsigned long leaf(unsigned long x)
{
	return x * 6364136223846793005UL + 1442695040888963407UL;
}

static KEEP unsigned long loop(unsigned long x)
{
	for (unsigned i = 0; i < 200; i++)
		x = leaf(x);
	return x;
}

static KEEP unsigned long deep(unsigned n, unsigned long (*last)(unsigned long))
{
	return n ? deep(n - 1, last) ^ sink : last(sink);
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? atol(argv[1]) : 1000;
	struct itimerval at = { .it_value = { ms / 1000, ms % 1000 * 1000 } };

	signal(SIGPROF, end);
	setitimer(ITIMER_PROF, &at, NULL);
	for (unsigned i = 0; !over; i++)
		sink += deep(i % 40, i & 1 ? leaf : loop);
	return 0;
}
