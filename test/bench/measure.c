/*
 * measure - what a command costs: measure [-n RUNS] [-i INPUT] [-o OUTPUT] -- COMMAND...
 *
 * Prints "CPU WALL ANON RSS": seconds of user + system time of the command and of the processes that it started, also
 * of those that end after it (1 s at most), and of wall time from fork to exit (the least of all runs each); kB of the
 * command at the peak (the most of all runs): RssAnon, sampled every half millisecond, and the kernel's maximum RSS.
 * Ends with the command's status.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* CPU time of all processes below this one that were reaped. */
static double reaped_cpu(void)
{
	struct rusage r;

	getrusage(RUSAGE_CHILDREN, &r);
	return seconds(r.ru_utime) + seconds(r.ru_stime);
}

/* Helper processes end after the command: they are children of this process then. */
static void reap_helpers(void)
{
	for (int i = 0; i < 2000 && waitpid(-1, NULL, WNOHANG) >= 0; i++)
		usleep(500);
}

static long anon_kb(int fd)
{
	char buf[4096], *p;
	ssize_t n = pread(fd, buf, sizeof(buf) - 1, 0);

	if (n <= 0)
		return 0;
	buf[n] = 0;
	p = strstr(buf, "RssAnon:");
	return p ? strtol(p + 8, NULL, 10) : 0;
}

static void redirect(const char *path, int flags, int fd)
{
	int from = open(path, flags, 0666);

	if (from < 0 || dup2(from, fd) < 0) {
		fprintf(stderr, "measure: %s: %s\n", path, strerror(errno));
		_exit(127);
	}
}

int main(int argc, char **argv)
{
	const char *input = NULL, *output = NULL;
	double cpu = 1e99, wall = 1e99;
	long anon = 0, rss = 0;
	int runs = 1, status = 0, c;

	while ((c = getopt(argc, argv, "+n:i:o:")) != -1) {
		if (c == 'n')
			runs = atoi(optarg);
		else if (c == 'i')
			input = optarg;
		else if (c == 'o')
			output = optarg;
		else
			return 2;
	}
	if (optind == argc)
		return 2;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (int run = 0; run < runs; run++) {
		struct rusage r;
		char path[64];
		double before = reaped_cpu(), start = now(), t;
		pid_t pid = fork();
		int fd;

		if (pid == 0) {
			if (input)
				redirect(input, O_RDONLY, STDIN_FILENO);
			if (output)
				redirect(output, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
			execvp(argv[optind], argv + optind);
			fprintf(stderr, "measure: %s: %s\n", argv[optind], strerror(errno));
			_exit(127);
		}
		snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
		fd = open(path, O_RDONLY);
		while (wait4(pid, &status, WNOHANG, &r) == 0) {
			long kb = anon_kb(fd);

			anon = kb > anon ? kb : anon;
			usleep(500);
		}
		wall = now() - start < wall ? now() - start : wall;
		close(fd);
		reap_helpers();
		t = reaped_cpu() - before;
		cpu = t < cpu ? t : cpu;
		rss = r.ru_maxrss > rss ? r.ru_maxrss : rss;
	}
	printf("%.6f %.6f %ld %ld\n", cpu, wall, anon, rss);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
