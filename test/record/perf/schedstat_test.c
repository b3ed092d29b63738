/* schedstat_test - the time of a process on a CPU, compared with the clock of its CPU time, and processes that are
 * gone. */
/* covers: record/perf/schedstat.c */
#include "record/perf/schedstat.h"

#include "common/clocks.h"
#include "test/lib/tap.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

static void test_self(int fd)
{
	struct schedstat before, after;
	uint64_t start = cpu_time(), lower, upper;

	ok(schedstat_read(fd, &before), "this process");
	lower = cpu_time();
	while (cpu_time() < start + SECOND_NS / 5)
		;
	upper = cpu_time();
	sched_yield(); /* the kernel adds the time at a tick or a switch */
	ok(schedstat_read(fd, &after) && after.ran > before.ran && after.waited >= before.waited, "  uses CPU time");
	ok(after.ran - before.ran <= cpu_time() - start + SECOND_NS / 50,
	   "  no more than its clock counts, but for 20 ms");
	ok(after.ran - before.ran + SECOND_NS / 50 >= upper - lower, "  and no less");
}

static void test_other(void)
{
	struct schedstat stat = { 7, 9 };
	pid_t pid = fork();
	int fd;

	if (pid == 0) {
		pause();
		_exit(0);
	}
	fd = schedstat_open(pid);
	ok(schedstat_read(fd, &stat) && stat.ran < SECOND_NS, "another process");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	stat = (struct schedstat){ 7, 9 };
	ok(!schedstat_read(fd, &stat) && stat.ran == 7 && stat.waited == 9, "  that is gone: the numbers stay");
	close(fd);
	ok(schedstat_open(pid) < 0, "  and cannot be opened");
	ok(!schedstat_read(-1, &stat) && stat.ran == 7, "no descriptor: the numbers stay");
}

int main(void)
{
	int fd = schedstat_open(0);

	if (fd < 0) {
		printf("1..0 # SKIP this kernel has no /proc/PID/schedstat\n");
		return 0;
	}
	test_self(fd);
	close(fd);
	test_other();
	return done();
}
