/* SPDX-License-Identifier: Apache-2.0 */
/* Calls counted(), from caller(), once a signal SIGUSR1 has come: uprobecalls N. Prints the address of counted() first,
 * and ends 200 ms after the last call, or after 60 s. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile long sum;

__attribute__((noinline)) static void counted(long i)
{
	sum += i;
}

__attribute__((noinline)) static void caller(long i)
{
	counted(i);
	sum++;
}

int main(int argc, char **argv)
{
	sigset_t start;
	int sig;

	alarm(60);
	sigemptyset(&start);
	sigaddset(&start, SIGUSR1);
	sigprocmask(SIG_BLOCK, &start, NULL);
	printf("%lu\n", (unsigned long)(uintptr_t)counted);
	fflush(stdout);
	sigwait(&start, &sig);
	for (long i = argc > 1 ? atol(argv[1]) : 0; i > 0; i--) {
		caller(i);
		if (i % 50 == 0)
			usleep(1000);
	}
	usleep(200000);
	return 0;
}
