/*
 * fuzz.h - what fuzz targets share. A target is fuzz_one (cost.h), called by libFuzzer (make fuzz) and by replay.c (make check).
 *
 * Targets check more than "no crash": MUST ends the run when a law does not hold. Code that dies on bad input (die*) comes back
 * here: FUZZ_GUARD() is false the first time, true after a death; what leaks then is no finding.
 */
#ifndef PJ_FUZZ_H
#define PJ_FUZZ_H

#include "cost.h"
#include "diag.h"
#include "str.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MUST(cond) ((cond) ? (void)0 : fuzz_broken(#cond, __FILE__, __LINE__))

static jmp_buf fuzz_death;

NORETURN static inline void fuzz_broken(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	abort();
}

static inline void fuzz_come_back(void)
{
	longjmp(fuzz_death, 1);
}

#define FUZZ_GUARD() (diag_at_death(fuzz_come_back), setjmp(fuzz_death) != 0)

/* A file in memory with these bytes; its path is "/proc/self/fd/N". */
static inline int fuzz_file(const void *data, size_t n, char path[32])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || (n && write(fd, data, n) != (ssize_t)n))
		abort();
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

/* A copy of exactly this size, so that reading past it is seen. */
static inline char *fuzz_copy(const void *data, size_t n)
{
	char *p = malloc(n ? n : 1);

	if (!p)
		abort();
	if (n)
		memcpy(p, data, n);
	return p;
}

#endif
