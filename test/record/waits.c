/*
 * waits.c - threads that wait for known times in functions of known names, for tests of off-CPU times.
 *
 * waits SECONDS [switches]: one thread each sleeps, waits for a pipe, waits for a lock, computes, and waits for what
 * never comes; with the word, two more pass a byte to and fro, which is as many switches as there can be. At the end it
 * prints a line for each: the function, the ns that went by in it by its own clock, and how often; and "threads", the
 * sum of the lives of all threads. System calls are made in place: libc has no frame pointers, so its callers would be
 * skipped.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NAMED __attribute__((noinline, noclone))

static inline __attribute__((always_inline)) long call(long n, long a, long b, long c, long d)
{
#ifdef __x86_64__
	register long r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return result;
#else
	return syscall(n, a, b, c, d, 0, 0);
#endif
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int64_t end_ns;
static int fed[2], silent[2], to[2], fro[2];
static uint32_t turn;

static NAMED void wait_sleep(void)
{
	struct timespec t = { .tv_nsec = 20000000 };

	call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&t, 0);
	__asm__ volatile(""); /* no tail call */
}

static NAMED void wait_pipe(void)
{
	char c;

	call(SYS_read, fed[0], (long)&c, 1, 0);
	__asm__ volatile("");
}

static NAMED void wait_lock(void)
{
	uint32_t seen = __atomic_load_n(&turn, __ATOMIC_ACQUIRE);

	call(SYS_futex, (long)&turn, FUTEX_WAIT_PRIVATE, seen, 0);
	__asm__ volatile("");
}

static NAMED void wait_forever(void)
{
	char c;

	call(SYS_read, silent[0], (long)&c, 1, 0);
	__asm__ volatile("");
}

/* Wakes the two above. */
static NAMED void feed(void)
{
	struct timespec t = { .tv_nsec = 30000000 };

	call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&t, 0);
	__atomic_add_fetch(&turn, 1, __ATOMIC_RELEASE);
	call(SYS_futex, (long)&turn, FUTEX_WAKE_PRIVATE, 1, 0);
	call(SYS_write, fed[1], (long)"x", 1, 0);
	__asm__ volatile("");
}

static NAMED void burn(void)
{
	for (volatile unsigned i = 0; i < 1000000; i++)
		;
}

static NAMED void ping(void)
{
	char c;

	call(SYS_write, to[1], (long)"x", 1, 0);
	call(SYS_read, fro[0], (long)&c, 1, 0);
	__asm__ volatile("");
}

static void *pong(void *arg)
{
	char c;

	for (;;) {
		call(SYS_read, to[0], (long)&c, 1, 0);
		call(SYS_write, fro[1], (long)"x", 1, 0);
	}
	return arg;
}

static struct work {
	const char *name;
	void (*once)(void);
	int64_t more_ns; /* beyond the end of the others */
	int64_t ns, life, count;
	pthread_t thread;
} works[] = {
	{ .name = "wait_sleep", .once = wait_sleep },
	{ .name = "wait_pipe", .once = wait_pipe },
	{ .name = "wait_lock", .once = wait_lock },
	{ .name = "burn", .once = burn },
	{ .name = "feed", .once = feed, .more_ns = 100000000 },
	{ .name = "ping", .once = ping },
};

static void *run(void *arg)
{
	struct work *w = arg;
	int64_t start = now(), t = start;

	while (t < end_ns + w->more_ns) {
		int64_t before = t;

		w->once();
		t = now();
		w->ns += t - before;
		w->count++;
	}
	w->life = t - start;
	return NULL;
}

static void *run_forever(void *arg)
{
	for (;;)
		wait_forever();
	return arg;
}

int main(int argc, char **argv)
{
	int64_t start = now(), life = 0;
	bool switches = argc > 2;
	pthread_t forever, other;
	size_t n = sizeof(works) / sizeof(*works) - !switches;

	if (pipe(fed) || pipe(silent) || pipe(to) || pipe(fro))
		return 1;
	end_ns = start + (int64_t)(atof(argc > 1 ? argv[1] : "2") * 1e9);
	int64_t forever_from = now();
	if (pthread_create(&forever, NULL, run_forever, NULL) || (switches && pthread_create(&other, NULL, pong, NULL)))
		return 1;
	for (size_t i = 0; i < n; i++)
		if (pthread_create(&works[i].thread, NULL, run, &works[i]))
			return 1;
	for (size_t i = 0; i < n; i++) {
		pthread_join(works[i].thread, NULL);
		printf("%s %lld %lld\n", works[i].name, (long long)works[i].ns, (long long)works[i].count);
		life += works[i].life;
	}
	printf("wait_forever %lld 1\n", (long long)(now() - forever_from));
	printf("threads %lld %zu\n", (long long)(life + (switches ? 2 : 1) * (now() - forever_from) + now() - start),
	       n + 2 + switches);
	return 0;
}
