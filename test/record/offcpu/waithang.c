/*
 * waithang.c - a process of another user whose thread sleeps with a stack that blocks its readers: the page above the
 * one with its frames is under userfaultfd, and nothing answers.
 *
 * waithang UID SECONDS. For offcpu-stacks.t; exits with 77 where userfaultfd is not available.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 64 };

static char *region;

/* Puts the pages above the one of the top under userfaultfd. Returns false if that is not possible. */
static int block(char *from, size_t n)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .range = { (uintptr_t)from, n }, .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	return fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &range) == 0;
}

static void *sleeper(void *arg)
{
	(void)arg;
	for (;;)
		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (argc < 3)
		return 2;
	region = mmap(NULL, 2 * PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* the stack is the lower half; a read from sp on gets to the upper half */
	if (region == MAP_FAILED || !block(region + PAGES * PAGE, PAGES * PAGE))
		return 77;
	if (setresgid((gid_t)atoi(argv[1]), (gid_t)atoi(argv[1]), (gid_t)atoi(argv[1])) != 0 ||
	    setresuid((uid_t)atoi(argv[1]), (uid_t)atoi(argv[1]), (uid_t)atoi(argv[1])) != 0)
		return 77;
	pthread_attr_init(&attr);
	if (pthread_attr_setstack(&attr, region, PAGES * PAGE) != 0 ||
	    pthread_create(&thread, &attr, sleeper, NULL) != 0)
		return 1;
	sleep((unsigned)atoi(argv[2]));
	return 0;
}
