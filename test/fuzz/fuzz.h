/*
 * fuzz.h - what fuzz targets share. A target is fuzz_one (cost.h), called by libFuzzer (make fuzz) and by replay.c
 * (make check).
 *
 * Targets check more than "no crash": MUST ends the run when a law does not hold. Code that dies on bad input (die*)
 * comes back here: FUZZ_GUARD() is false the first time, true after a death; what leaks then is no finding.
 */
#ifndef PJ_FUZZ_H
#define PJ_FUZZ_H

#include "test/fuzz/cost.h"
#include "common/diag.h"
#include "common/str.h"

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

/* A folder of this run alone, of O_RDONLY, removed when it ends well; its path is in fuzz_folder_path. */
static char fuzz_folder_path[64];

static inline void fuzz_folder_remove(void)
{
	rmdir(fuzz_folder_path);
}

static inline int fuzz_folder(void)
{
	static int fd = -1;

	if (fd >= 0)
		return fd;
	snprintf(fuzz_folder_path, sizeof(fuzz_folder_path), "/tmp/pj-fuzz.XXXXXX");
	if (!mkdtemp(fuzz_folder_path) || (fd = open(fuzz_folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		abort();
	atexit(fuzz_folder_remove);
	return fd;
}

/* A file in that folder with these bytes, in place of the one that was there. */
static inline void fuzz_put(const char *name, struct str bytes)
{
	int fd = openat(fuzz_folder(), name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || (bytes.n && write(fd, bytes.p, bytes.n) != (ssize_t)bytes.n) || close(fd) != 0)
		abort();
}

/* How many descriptors are open, of the first 64. */
static inline unsigned fuzz_descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 64; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* The next part of the input: up to a byte 0xff, which no text of the kernel has. */
static inline struct str fuzz_part(struct str *rest)
{
	return str_cut(rest, (char)0xff);
}

/* The next byte, 0 at the end; the next n bytes, fewer at the end. */
static inline uint8_t fuzz_byte(struct str *rest)
{
	uint8_t byte = rest->n ? (uint8_t)*rest->p : 0;

	*rest = str_from(*rest, rest->n > 0);
	return byte;
}

static inline struct str fuzz_bytes(struct str *rest, size_t n)
{
	struct str bytes = str_head(*rest, n < rest->n ? n : rest->n);

	*rest = str_from(*rest, bytes.n);
	return bytes;
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
