/*
 * app - what runs in the containers of record-kept.t: code of its own, of a library, and made at run time, with a map
 * that grows.
 *
 * app SECONDS [memfd]: memfd: from a file in memory that has no name. With -DLIBRARY: the library.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

void in_library(void);

#ifdef LIBRARY

static volatile unsigned sink;

__attribute__((noinline)) static void local_in_library(void)
{
	for (unsigned i = 0; i < 1000000; i++)
		sink += i;
}

void in_library(void)
{
	local_in_library();
	sink++;
}

#else

static volatile unsigned sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) static void in_binary(void)
{
	for (unsigned i = 0; i < 2000000; i++)
		sink += i;
}

/* A loop of 2 million, with a frame pointer. */
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xb9, 0x80, 0x84, 0x1e,
				      0x00, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };

static void again_from_memory(char **argv)
{
	static char bytes[1 << 20];
	char path[40];
	FILE *f = fopen("/proc/self/exe", "rb");
	size_t n = f ? fread(bytes, 1, sizeof(bytes), f) : 0;
	int fd = memfd_create("app", 0);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (n && write(fd, bytes, n) == (ssize_t)n)
		execl(path, "inmemory", argv[1], (char *)NULL);
	exit(1);
}

int main(int argc, char **argv)
{
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double end = now() + (argc > 1 ? atof(argv[1]) : 2);
	char name[64];
	FILE *f;

	if (argc > 2)
		again_from_memory(argv);
	if (argc > 1 && strcmp(argv[0], "inmemory") == 0)
		prctl(PR_SET_NAME, "inmemory");
	memcpy(page, code, sizeof(code));
	memcpy(page + 64, code, sizeof(code));
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(name, "w");
	if (!f)
		return 1;
	fprintf(f, "%lx 40 first_jitted\n", (unsigned long)page);
	fflush(f);
	for (unsigned n = 0; now() < end; n++) {
		in_binary();
		in_library();
		((void (*)(void))(uintptr_t)page)();
		if (n == 5) {
			fprintf(f, "%lx 40 second_jitted\n", (unsigned long)page + 64);
			fflush(f);
		}
		if (n > 5)
			((void (*)(void))(uintptr_t)(page + 64))();
	}
	return 0;
}

#endif
