/* SPDX-License-Identifier: Apache-2.0 */
#include "out.h"

#include "arena.h"
#include "diag.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

struct out_gzip {
	z_stream z;
	unsigned char buf[64 * 1024];
};

static const char *volatile unfinished; /* for remove_unfinished only */

static void remove_unfinished(void)
{
	if (unfinished)
		unlink(unfinished);
}

static void on_signal(int sig)
{
	remove_unfinished();
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Interrupted, terminated, hung up: as quiet as ever, but without leaving half a file. Who ignores a signal (nohup)
 * still does. */
static void remove_when_killed(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < countof(signals); i++)
		if (signal(signals[i], on_signal) == SIG_IGN)
			signal(signals[i], SIG_IGN);
}

static const char *shown(const struct out *o)
{
	return o->path ? o->path : "standard output";
}

/* DIR/.NAME.PID.tmp: in the same folder, so that rename is atomic; with a dot, so that nobody takes it for a result. */
static char *temp_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	int dir = slash ? (int)(slash - path) + 1 : 0;
	size_t n = strlen(path) + 40;
	char *temp = mem_alloc(1, n);

	snprintf(temp, n, "%.*s.%.200s.%ld.tmp", dir, path, path + dir, (long)getpid());
	return temp;
}

/* A symbolic link is followed, so that the file it names is replaced, not the link. NULL: not a link. */
static char *link_target(const char *path)
{
	struct stat st;
	char *target, *joined;
	const char *slash = strrchr(path, '/');
	int dir = slash ? (int)(slash - path) + 1 : 0;
	size_t cap;
	ssize_t n;

	if (lstat(path, &st) < 0 || !S_ISLNK(st.st_mode))
		return NULL;
	target = realpath(path, NULL);
	if (target)
		return target;
	/* it points to what is not there yet */
	cap = st.st_size > 0 ? (size_t)st.st_size + 1 : 4096;
	target = mem_alloc(1, cap + 1);
	n = readlink(path, target, cap);
	if (n < 0)
		die_errno("cannot read the link '%s'", path);
	target[n] = 0;
	if (target[0] == '/')
		return target;
	joined = mem_alloc(1, (size_t)dir + (size_t)n + 1);
	memcpy(joined, path, (size_t)dir);
	memcpy(joined + dir, target, (size_t)n);
	free(target);
	return joined;
}

/* Says what the user named. The temporary file and a link's target only where they are what is wrong. */
static NORETURN void cannot_create(const struct out *o, bool exists)
{
	if (errno == EEXIST)
		die_errno("cannot write '%s': '%s' is in the way", o->path, o->temp);
	if (o->target)
		die_errno("cannot write '%s', a link to '%s'", o->path, o->target);
	if (exists && (errno == EACCES || errno == EPERM || errno == EROFS))
		die_errno("cannot replace '%s': its folder takes no new files", o->path);
	die_errno("cannot write '%s'", o->path);
}

void out_open(struct out *o, const char *path)
{
	struct stat st;
	bool exists;

	o->path = path && strcmp(path, "-") != 0 && strcmp(path, "/dev/stdout") != 0 ? path : NULL;
	o->temp = o->target = NULL;
	o->gzip = NULL;
	o->n = 0;
	o->fd = STDOUT_FILENO;
	if (!o->path)
		return;
	if (!*o->path)
		die_usage("the name of the output file is empty");
	exists = stat(path, &st) == 0;
	/* what is in /dev belongs to the system, even when it leads to a regular file (/dev/fd/3) */
	if ((exists && !S_ISREG(st.st_mode)) || strncmp(path, "/dev/", 5) == 0) {
		o->fd = open(path, O_WRONLY | O_CLOEXEC);
		if (o->fd < 0)
			die_errno("cannot write '%s'", path);
		return;
	}
	o->target = link_target(path);
	o->temp = temp_name(o->target ? o->target : path);
	o->fd = open(o->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, exists ? st.st_mode & 0777 : 0666);
	if (o->fd < 0)
		cannot_create(o, exists);
	unfinished = o->temp;
	diag_at_death(remove_unfinished);
	remove_when_killed();
}

static void write_all(struct out *o, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(o->fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			die_errno("cannot write '%s'", shown(o));
		p += done;
		n -= (size_t)done;
	}
}

void out_gzip(struct out *o)
{
	o->gzip = mem_alloc(sizeof(*o->gzip), 1);
	if (deflateInit2(&o->gzip->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		die("cannot start zlib: out of memory");
}

static void compress_all(struct out *o, const char *p, size_t n, int how)
{
	z_stream *z = &o->gzip->z;

	z->next_in = (unsigned char *)(uintptr_t)p;
	do {
		size_t part = n < 1u << 30 ? n : 1u << 30;
		z->avail_in = (unsigned)part;
		n -= part;
		do {
			z->next_out = o->gzip->buf;
			z->avail_out = sizeof(o->gzip->buf);
			deflate(z, n ? Z_NO_FLUSH : how);
			write_all(o, (const char *)o->gzip->buf, sizeof(o->gzip->buf) - z->avail_out);
		} while (z->avail_out == 0);
	} while (n);
}

static void pass_on(struct out *o, const char *p, size_t n)
{
	if (o->gzip)
		compress_all(o, p, n, Z_NO_FLUSH);
	else
		write_all(o, p, n);
}

static void flush(struct out *o)
{
	pass_on(o, o->buf, o->n);
	o->n = 0;
}

static void end_gzip(struct out *o)
{
	compress_all(o, NULL, 0, Z_FINISH);
	deflateEnd(&o->gzip->z);
	free(o->gzip);
	o->gzip = NULL;
}

void out_bytes(struct out *o, const void *p, size_t n)
{
	if (n > sizeof(o->buf) - o->n) {
		flush(o);
		if (n >= sizeof(o->buf)) {
			pass_on(o, p, n);
			return;
		}
	}
	if (n)
		memcpy(o->buf + o->n, p, n);
	o->n += n;
}

void out_str(struct out *o, struct str s)
{
	out_bytes(o, s.p, s.n);
}

void out_text(struct out *o, const char *s)
{
	out_bytes(o, s, strlen(s));
}

void out_u64(struct out *o, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + value % 10);
	while (value /= 10);
	out_bytes(o, digits + at, sizeof(digits) - at);
}

void out_printf(struct out *o, const char *fmt, ...)
{
	char text[1024], *longer = NULL;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (n >= (int)sizeof(text)) {
		longer = mem_alloc(1, (size_t)n + 1);
		va_start(args, fmt);
		vsnprintf(longer, (size_t)n + 1, fmt, args);
		va_end(args);
	}
	if (n > 0)
		out_bytes(o, longer ? longer : text, (size_t)n);
	free(longer);
}

void out_close(struct out *o)
{
	flush(o);
	if (o->gzip)
		end_gzip(o);
	if (o->temp && fsync(o->fd) < 0)
		die_errno("cannot write '%s'", shown(o));
	/* also standard output: some file systems report a full disk only now */
	if (close(o->fd) < 0)
		die_errno("cannot write '%s'", shown(o));
	if (o->temp) {
		if (rename(o->temp, o->target ? o->target : o->path) < 0)
			die_errno("cannot replace '%s'", o->target ? o->target : o->path);
		unfinished = NULL;
		free(o->temp);
		free(o->target);
		o->temp = o->target = NULL;
	}
	o->fd = -1;
}
