/*
 * knownwaits.c - threads that wait in one function, called along paths that differ by the system call in which they
 * wait.
 *
 * knownwaits SECONDS. The instruction that enters the kernel is the same for all of them, and so is the stack pointer
 * for two: the kernel's frames of a wait show which path is the right one for its user stack. No function keeps a frame
 * pointer, and one path has 20 kB of variables. For offcpu-stacks.t.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NAMED __attribute__((noinline, noclone))
enum { WORKERS = 4 };

static int fed[WORKERS][2];
static volatile int over;
static uint32_t word = 1;
static volatile char sink;

/* A macro hides the tail call from the compiler. */
#define RETURN(value)                             \
	do {                                      \
		long got = (value);               \
		__asm__ volatile("" : "+r"(got)); \
		return got;                       \
	} while (0)

static NAMED long step(long n, long a, long b, long c, long d)
{
#ifdef __x86_64__
	register long r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return result;
#else
	RETURN(syscall(n, a, b, c, d, 0, 0));
#endif
}

static NAMED long path_sleep(unsigned us)
{
	struct timespec t = { .tv_nsec = us * 1000L };

	RETURN(step(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&t, 0));
}

static NAMED long path_read(int worker)
{
	char bytes[16];

	RETURN(step(SYS_read, fed[worker][0], (long)bytes, 1, 0));
}

static NAMED long path_buffer(unsigned us)
{
	volatile char buffer[20000];
	struct timespec t = { .tv_nsec = us * 1000L };

	buffer[us % sizeof(buffer)] = 1;
	sink = buffer[us % sizeof(buffer)];
	RETURN(step(SYS_ppoll, 0, 0, (long)&t, 0));
}

static NAMED long path_futex(unsigned us, unsigned deep)
{
	struct timespec t = { .tv_nsec = us * 1000L };

	if (deep)
		RETURN(path_futex(us, deep - 1) + sink);
	RETURN(step(SYS_futex, (long)&word, FUTEX_WAIT_PRIVATE, 1, (long)&t));
}

static NAMED void *worker(void *arg)
{
	int number = (int)(intptr_t)arg;
	uint32_t random = (uint32_t)number + 1;

	while (!over) {
		unsigned us;

		random = random * 1664525u + 1013904223u;
		us = 100 + (random >> 8) % 4000;
		switch (random >> 28 & 3) {
		case 0: path_sleep(us); break;
		case 1: path_read(number); break;
		case 2: path_buffer(us); break;
		default: path_futex(us, random >> 24 & 7); break;
		}
	}
	return NULL;
}

static NAMED void *feeder(void *arg)
{
	uint32_t random = 7;

	(void)arg;
	while (!over) {
		struct timespec t = { .tv_nsec = 500000 + (random >> 8) % 2000000 };

		random = random * 1664525u + 1013904223u;
		nanosleep(&t, NULL);
		if (write(fed[random >> 28 & (WORKERS - 1)][1], "x", 1) < 0)
			return NULL;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	for (int i = 0; i < WORKERS; i++)
		if (pipe(fed[i]) != 0 || pthread_create(&thread, NULL, worker, (void *)(intptr_t)i) != 0)
			return 1;
	if (pthread_create(&thread, NULL, feeder, NULL) != 0)
		return 1;
	sleep(argc > 1 ? (unsigned)atoi(argv[1]) : 5);
	return 0;
}
