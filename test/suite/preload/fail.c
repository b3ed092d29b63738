/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fail.c - LD_PRELOAD: one allocation, or one call that reads, writes or opens, fails.
 *
 * PJ_FAIL=KIND:N[:LENGTH] with KIND
 *	alloc	the allocation number N returns NULL; with LENGTH all from N on (memory stays short)
 *	above	each allocation of at least N bytes returns NULL
 *	eio enospc	the call number N fails with this error
 *	eintr	the same, if it is one that transfers bytes (others are not interrupted where no signal is handled)
 *	short	the call number N transfers one byte
 *
 * PJ_FAIL_COUNT=FILE: receives the numbers of allocations and calls at the end ("ALLOCATIONS CALLS\n").
 * PJ_FAIL_ONLY=NAME: only in programs of this name. A process and its children of a fork count together: one call of
 * all of them fails. PJ_FAIL_PROCESS=N: only in process N, the first being 0 and each fork the next one; each counts
 * from 1, and FILE has a line for each.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);

enum { PROCESSES = 32 };
static struct counts {
	atomic_ulong allocs, calls;
} own, *counts = &own; /* memory that is shared with children */
static struct shared {
	atomic_uint forks;
	struct counts of[PROCESSES];
} * shared; /* with PJ_FAIL_PROCESS */
static unsigned chosen;
static unsigned long at, length = 1, above;
static enum { NOTHING, ALLOC, ABOVE, CALL, SHORT } kind;
static int error;
static bool counting; /* main runs */
static int report = -1;

__attribute__((constructor)) static void begin(void)
{
	static const struct {
		const char *name;
		int kind, error;
	} kinds[] = {
		{ "alloc:", ALLOC, 0 },      { "above:", ABOVE, 0 },    { "eio:", CALL, EIO },
		{ "enospc:", CALL, ENOSPC }, { "eintr:", CALL, EINTR }, { "short:", SHORT, 0 },
	};
	const char *fail = getenv("PJ_FAIL"), *only = getenv("PJ_FAIL_ONLY");

	if (only && strcmp(only, program_invocation_short_name) != 0)
		return;
	for (size_t i = 0; fail && i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t n = strlen(kinds[i].name);
		char *end;

		if (strncmp(fail, kinds[i].name, n) != 0)
			continue;
		at = above = strtoul(fail + n, &end, 10);
		length = *end == ':' ? strtoul(end + 1, NULL, 10) : 1;
		kind = kinds[i].kind;
		error = kinds[i].error;
	}
	if (getenv("PJ_FAIL_COUNT")) /* later the tool may have given up the right to open it */
		report = open(getenv("PJ_FAIL_COUNT"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (getenv("PJ_FAIL_PROCESS")) {
		chosen = (unsigned)strtoul(getenv("PJ_FAIL_PROCESS"), NULL, 10);
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		counts = &shared->of[0];
	} else {
		struct counts *all =
			mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		counts = all != MAP_FAILED ? all : &own;
	}
	counting = true;
}

/* Is this the process in which something fails? */
static bool is_chosen(void)
{
	return !shared || counts == &shared->of[chosen % PROCESSES];
}

pid_t fork(void)
{
	static pid_t (*real)(void);
	unsigned number = shared && counting ? atomic_fetch_add(&shared->forks, 1) + 1 : 0;
	pid_t pid;

	if (!real)
		real = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
	pid = real();
	if (pid == 0 && number)
		counts = &shared->of[number % PROCESSES];
	return pid;
}

/* Lets no further call of this process fail: gcovexit.c calls it. */
void stop_failures_for_gcov(void)
{
	counting = false;
}

__attribute__((destructor)) static void end(void)
{
	char line[64];
	unsigned n = shared ? atomic_load(&shared->forks) + 1 : 1;

	counting = false;
	if (shared && counts != &shared->of[0]) /* the first process has them all */
		return;
	for (unsigned i = 0; report >= 0 && i < n && i < PROCESSES; i++) {
		const struct counts *c = shared ? &shared->of[i] : counts;

		if (write(report, line, (size_t)snprintf(line, sizeof(line), "%lu %lu\n", c->allocs, c->calls)) < 0)
			_exit(3);
	}
}

/* ---- memory -------------------------------------------------------------------------------------------------- */

static bool no_memory(size_t n)
{
	unsigned long number;

	if (!counting)
		return false;
	number = atomic_fetch_add(&counts->allocs, 1) + 1;
	if (!is_chosen() ||
	    (!(kind == ALLOC && number >= at && number - at < length) && !(kind == ABOVE && n >= above)))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t n)
{
	return no_memory(n) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return no_memory(size && n > (size_t)-1 / size ? (size_t)-1 : n * size) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return no_memory(n) ? NULL : __libc_realloc(p, n);
}

void *memalign(size_t align, size_t n)
{
	return no_memory(n) ? NULL : __libc_memalign(align, n);
}

void *aligned_alloc(size_t align, size_t n)
{
	return no_memory(n) ? NULL : __libc_memalign(align, n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
	*p = no_memory(n) ? NULL : __libc_memalign(align, n);
	return *p ? 0 : ENOMEM;
}

/* ---- calls --------------------------------------------------------------------------------------------------- */

/* 0: goes on; 1: fails with errno; 2: transfers one byte. */
static int next_call(bool transfers)
{
	if (!counting || atomic_fetch_add(&counts->calls, 1) + 1 != at || !is_chosen())
		return 0;
	if (kind == CALL && (transfers || error != EINTR)) {
		errno = error;
		return 1;
	}
	return kind == SHORT ? 2 : 0;
}

#define REAL(name)                     \
	static __typeof__(&name) real; \
	if (!real)                     \
	real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define TRANSFER(name, params, fd, p, args_n) \
	ssize_t name params                   \
	{                                     \
		REAL(name);                   \
		int how = next_call(true);    \
		if (how == 1)                 \
			return -1;            \
		if (how == 2 && n > 1)        \
			n = 1;                \
		return real args_n;           \
	}

TRANSFER(read, (int fd, void *p, size_t n), fd, p, (fd, p, n))
TRANSFER(write, (int fd, const void *p, size_t n), fd, p, (fd, p, n))
TRANSFER(pread, (int fd, void *p, size_t n, off_t o), fd, p, (fd, p, n, o))
TRANSFER(pwrite, (int fd, const void *p, size_t n, off_t o), fd, p, (fd, p, n, o))
TRANSFER(pread64, (int fd, void *p, size_t n, off64_t o), fd, p, (fd, p, n, o))
TRANSFER(pwrite64, (int fd, const void *p, size_t n, off64_t o), fd, p, (fd, p, n, o))

#define MESSAGE(name, params, args)                           \
	ssize_t name params                                   \
	{                                                     \
		REAL(name);                                   \
		return next_call(true) == 1 ? -1 : real args; \
	}

MESSAGE(send, (int fd, const void *p, size_t n, int flags), (fd, p, n, flags))
MESSAGE(recv, (int fd, void *p, size_t n, int flags), (fd, p, n, flags))
MESSAGE(sendmsg, (int fd, const struct msghdr *header, int flags), (fd, header, flags))
MESSAGE(recvmsg, (int fd, struct msghdr *header, int flags), (fd, header, flags))

#define FAILS(type, name, params, args)                              \
	type name params                                             \
	{                                                            \
		REAL(name);                                          \
		return next_call(false) == 1 ? (type)-1 : real args; \
	}

FAILS(int, ftruncate, (int fd, off_t n), (fd, n))
FAILS(int, ftruncate64, (int fd, off64_t n), (fd, n))
FAILS(int, fsync, (int fd), (fd))
FAILS(int, rename, (const char *a, const char *b), (a, b))
FAILS(int, renameat, (int d, const char *a, int e, const char *b), (d, a, e, b))

#define OPENS(name, first, params, args)                       \
	int name params                                        \
	{                                                      \
		mode_t mode = 0;                               \
		va_list more;                                  \
		REAL(name);                                    \
		va_start(more, flags);                         \
		if (flags & (O_CREAT | O_TMPFILE))             \
			mode = va_arg(more, mode_t);           \
		va_end(more);                                  \
		return next_call(false) == 1 ? -1 : real args; \
	}

OPENS(open, path, (const char *path, int flags, ...), (path, flags, mode))
OPENS(open64, path, (const char *path, int flags, ...), (path, flags, mode))
OPENS(openat, folder, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPENS(openat64, folder, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
