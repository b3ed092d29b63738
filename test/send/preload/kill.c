/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kill.c - LD_PRELOAD: pjsend is killed before or after its Nth call that changes or tells anything.
 *
 * PJ_KILL_AT=N PJ_KILL_AFTER=0|1, or PJ_KILL_COUNT=FILE: how many such calls there are is written there at the end.
 * Calls of connect, send*, recv*, write*, fsync, fdatasync, rename*, unlink*, link* count. Programs that pjsend starts
 * are left alone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int calls;
static int at, after;
static const char *report;

__attribute__((constructor)) static void begin(void)
{
	const char *n = getenv("PJ_KILL_AT"), *when = getenv("PJ_KILL_AFTER");

	if (strcmp(program_invocation_short_name, "pjsend") != 0)
		return;
	at = n ? (int)strtol(n, NULL, 10) : 0;
	after = when && *when == '1';
	report = getenv("PJ_KILL_COUNT");
}

__attribute__((destructor)) static void end(void)
{
	FILE *f = report ? fopen(report, "w") : NULL;

	if (f) {
		fprintf(f, "%d\n", calls);
		fclose(f);
	}
}

static int before_call(void)
{
	int n = ++calls;

	if (n == at && !after)
		kill(getpid(), SIGKILL);
	return n;
}

static void after_call(int n)
{
	if (n == at && after)
		kill(getpid(), SIGKILL);
}

#define WRAP(type, name, params, args)                             \
	type name params                                           \
	{                                                          \
		static type(*real) params;                         \
		type result;                                       \
		int n, error;                                      \
		if (!real)                                         \
			*(void **)&real = dlsym(RTLD_NEXT, #name); \
		n = before_call();                                 \
		result = real args;                                \
		error = errno;                                     \
		after_call(n);                                     \
		errno = error;                                     \
		return result;                                     \
	}

WRAP(int, connect, (int fd, const struct sockaddr *a, socklen_t n_), (fd, a, n_))
WRAP(ssize_t, send, (int fd, const void *p, size_t n_, int flags), (fd, p, n_, flags))
WRAP(ssize_t, sendto, (int fd, const void *p, size_t n_, int flags, const struct sockaddr *a, socklen_t an),
     (fd, p, n_, flags, a, an))
WRAP(ssize_t, sendmsg, (int fd, const struct msghdr *header, int flags), (fd, header, flags))
WRAP(ssize_t, recv, (int fd, void *p, size_t n_, int flags), (fd, p, n_, flags))
WRAP(ssize_t, recvfrom, (int fd, void *p, size_t n_, int flags, struct sockaddr *a, socklen_t *an),
     (fd, p, n_, flags, a, an))
WRAP(ssize_t, recvmsg, (int fd, struct msghdr *header, int flags), (fd, header, flags))
WRAP(ssize_t, write, (int fd, const void *p, size_t n_), (fd, p, n_))
WRAP(ssize_t, writev, (int fd, const struct iovec *vector, int n_), (fd, vector, n_))
WRAP(int, fsync, (int fd), (fd))
WRAP(int, fdatasync, (int fd), (fd))
WRAP(int, rename, (const char *a, const char *b), (a, b))
WRAP(int, renameat, (int fa, const char *a, int fb, const char *b), (fa, a, fb, b))
WRAP(int, renameat2, (int fa, const char *a, int fb, const char *b, unsigned flags), (fa, a, fb, b, flags))
WRAP(int, link, (const char *a, const char *b), (a, b))
WRAP(int, linkat, (int fa, const char *a, int fb, const char *b, int flags), (fa, a, fb, b, flags))
WRAP(int, unlink, (const char *a), (a))
WRAP(int, unlinkat, (int fd, const char *a, int flags), (fd, a, flags))
