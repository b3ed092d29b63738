/*
 * idrace - executes code from files whose names lead to a FIFO at every other moment, so that whoever checks a path and
 * then opens it opens the FIFO.
 *
 * usage: idrace SECONDS. In the current folder d/N are hard links of one file of code, e/N of one FIFO. One process
 * exchanges d and e all the time, another maps d/N for N = 0, 1, ... and runs code there for about 2 ms each. Prints
 * "opened COUNT": how often somebody opened the FIFO (inotify, which O_PATH does not trigger). PJ_SEED varies how many
 * links there are and how long code runs.
 */
#include "common/base.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINKS_MAX 900

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* sub 1 from the argument until it is 0 */
static const unsigned char code[] =
#ifdef __x86_64__
	{ 0x48, 0x83, 0xef, 0x01, 0x75, 0xfa, 0xc3 };
#else
	{ 0x00, 0x04, 0x00, 0xf1, 0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6 };
#endif

static void make_links(unsigned links, int *fd)
{
	static char page[4096];
	char name[32];
	int base = open("code", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	memcpy(page, code, sizeof(code));
	if (base < 0 || write(base, page, sizeof(page)) != (ssize_t)sizeof(page) || close(base) < 0 ||
	    mkfifo("fifo", 0644) < 0 || mkdir("d", 0755) < 0 || mkdir("e", 0755) < 0)
		exit(1);
	for (unsigned i = 0; i < links; i++) {
		snprintf(name, sizeof(name), "d/%u", i);
		if (link("code", name) < 0)
			exit(1);
		fd[i] = open(name, O_RDONLY | O_CLOEXEC);
		name[0] = 'e';
		if (fd[i] < 0 || link("fifo", name) < 0)
			exit(1);
	}
}

static pid_t exchange_all_the_time(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			syscall(SYS_renameat2, AT_FDCWD, "d", AT_FDCWD, "e", RENAME_EXCHANGE);
	}
	return pid;
}

static unsigned long take_events(int inotify)
{
	char buf[65536] __attribute__((aligned(8)));
	unsigned long opened = 0;
	ssize_t n;

	while ((n = read(inotify, buf, sizeof(buf))) > 0)
		for (ssize_t at = 0; at < n;) {
			struct inotify_event *e = (struct inotify_event *)(void *)(buf + at);

			opened += (e->mask & IN_OPEN) != 0;
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	return opened;
}

int main(int argc, char **argv)
{
	unsigned seed = (unsigned)strtoul(getenv("PJ_SEED") ? getenv("PJ_SEED") : "1", NULL, 10);
	unsigned links = LINKS_MAX / 2 + seed % (LINKS_MAX / 2);
	uint64_t turns = 2000000 + seed % 7 * 300000, end;
	static int fd[LINKS_MAX];
	unsigned long opened = 0;
	int inotify;
	pid_t pid;

	if (argc != 2)
		return 2;
	make_links(links, fd);
	inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (inotify < 0 || inotify_add_watch(inotify, "fifo", IN_OPEN) < 0)
		return 1;
	pid = exchange_all_the_time();
	end = now_ns() + strtoull(argv[1], NULL, 10) * 1000000000u;
	for (unsigned i = 0; now_ns() < end; i = (i + 1) % links) {
		void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd[i], 0);

		if (at == MAP_FAILED)
			return 1;
		((void (*)(uint64_t))(uintptr_t)at)(turns);
		munmap(at, 4096);
		opened += take_events(inotify);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	printf("opened %lu\n", opened);
	return 0;
}
