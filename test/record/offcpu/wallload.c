/*
 * wallload.c - threads that compute, sleep, yield and wake each other, and print their times as the kernel counts them.
 *
 * wallload MS. Each thread runs for about MS milliseconds of wall time. A line of a thread is "TID NAME INNER OUTER RUN
 * DELAY SLICES": its wall time in ns measured by itself, and by the thread that starts and joins it; its run time, run
 * delay and number of time slices, from schedstat. Two threads send each other a byte and share a CPU, so that they
 * switch some 10,000 times a second. For wall.t.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum kind { COMPUTE, COMPUTE_TOO, SLEEP, YIELD, PING, PONG, KINDS };
static const char *const names[] = { "compute", "compute", "sleep", "yield", "ping", "pong" };

struct worker {
	enum kind kind;
	pthread_t thread;
	int tid;
	unsigned long long begun, inner, outer, run, delay, slices;
};

static unsigned long long wanted;
static int pipes[2][2];

static unsigned long long wall_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (unsigned long long)time.tv_sec * 1000000000u + (unsigned long long)time.tv_nsec;
}

/* Sends a byte to the other thread, and waits for one. Returns false once the other thread has ended. */
static int exchange(enum kind kind)
{
	char byte = 0;

	return write(pipes[kind == PING][1], &byte, 1) == 1 && read(pipes[kind == PONG][0], &byte, 1) == 1;
}

static void share_cpu(void)
{
	cpu_set_t set;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	while (!CPU_ISSET(cpu, &set) && cpu < CPU_SETSIZE - 1)
		cpu++;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Sets the times of schedstat. The clock makes the kernel bring the run time of this thread up to date: without it,
 * schedstat lacks up to 4 ms. */
static void read_schedstat(struct worker *worker)
{
	struct timespec time;
	FILE *file;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	file = fopen("/proc/thread-self/schedstat", "r");
	if (!file || fscanf(file, "%llu %llu %llu", &worker->run, &worker->delay, &worker->slices) != 3)
		abort();
	fclose(file);
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	unsigned long long begun = wall_ns();
	const struct timespec nap = { 0, 20000000 };

	worker->tid = gettid();
	if (worker->kind >= PING)
		share_cpu();
	while (wall_ns() - begun < wanted) {
		if (worker->kind == SLEEP)
			nanosleep(&nap, NULL);
		else if (worker->kind == YIELD)
			for (volatile int i = 0; i < 300000; i++)
				;
		if (worker->kind == YIELD)
			sched_yield();
		if (worker->kind >= PING && !exchange(worker->kind))
			break;
	}
	if (worker->kind >= PING)
		close(pipes[worker->kind == PING][1]);
	read_schedstat(worker);
	worker->inner = wall_ns() - begun;
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker worker[KINDS] = { 0 };

	signal(SIGPIPE, SIG_IGN);
	if (pipe(pipes[0]) || pipe(pipes[1]))
		return 1;
	wanted = strtoull(argc > 1 ? argv[1] : "1000", NULL, 10) * 1000000;
	for (int i = 0; i < KINDS; i++) {
		worker[i].kind = (enum kind)i;
		worker[i].begun = wall_ns();
		if (pthread_create(&worker[i].thread, NULL, work, &worker[i]))
			return 1;
	}
	for (int i = 0; i < KINDS; i++) {
		pthread_join(worker[i].thread, NULL);
		worker[i].outer = wall_ns() - worker[i].begun;
	}
	for (int i = 0; i < KINDS; i++)
		printf("%d %s %llu %llu %llu %llu %llu\n", worker[i].tid, names[i], worker[i].inner, worker[i].outer,
		       worker[i].run, worker[i].delay, worker[i].slices);
	return 0;
}
