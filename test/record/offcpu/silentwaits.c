/*
 * silentwaits.c - threads that wait in functions of known names, for tests of waits that begin before a recording.
 *
 * silentwaits SECONDS: threads wait for ever in a semaphore, in a pipe, in a pipe below a frame of variable size (whose
 * caller is known by a register alone), and in a sleep of SECONDS; one computes all the time. Prints "ready" when all
 * have begun.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NAMED __attribute__((noinline, noclone))
#define NO_TAIL_CALL __asm__ volatile("" ::: "memory")

static sem_t never;
static int silent[2];
static struct timespec length;

static NAMED void wait_lock(void)
{
	sem_wait(&never);
	NO_TAIL_CALL;
}

static NAMED void wait_pipe(void)
{
	char c;

	if (read(silent[0], &c, 1) < 0)
		abort();
	NO_TAIL_CALL;
}

static NAMED void wait_below(volatile size_t bytes)
{
	volatile char *space = __builtin_alloca(bytes);

	space[0] = 1;
	wait_pipe();
	space[bytes - 1] = 1;
}

static NAMED void wait_sleep(void)
{
	clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL);
	NO_TAIL_CALL;
}

static NAMED void burn(void)
{
	for (volatile unsigned i = 0;; i++)
		;
}

static void *lock(void *arg)
{
	wait_lock();
	return arg;
}

static void *pipe_reader(void *arg)
{
	wait_pipe();
	return arg;
}

static void *below(void *arg)
{
	wait_below(1000);
	return arg;
}

static void *sleeper(void *arg)
{
	wait_sleep();
	wait_lock();
	return arg;
}

static void *burner(void *arg)
{
	burn();
	return arg;
}

int main(int argc, char **argv)
{
	static void *(*const start[])(void *) = { lock, pipe_reader, below, sleeper, burner };
	pthread_t thread;

	length.tv_sec = argc > 1 ? atoi(argv[1]) : 1;
	if (sem_init(&never, 0, 0) || pipe(silent))
		return 1;
	for (size_t i = 0; i < sizeof(start) / sizeof(*start); i++)
		if (pthread_create(&thread, NULL, start[i], NULL))
			return 1;
	usleep(200000);
	puts("ready");
	fflush(stdout);
	pause();
}
