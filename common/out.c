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
#include <string.h>
#include <unistd.h>
#include <zlib.h>

struct out_gzip {
	z_stream z;
	unsigned char buf[64 * 1024];
};

/* For remove_unfinished only. */
static const char *volatile unfinished;
static volatile int unfinished_in;

static void remove_unfinished(void)
{
	if (unfinished)
		unlinkat(unfinished_in, unfinished, 0);
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

/* Reports the path that the user gave, with the folder only if that is at fault. */
static NORETURN void cannot_create(const struct out *o)
{
	const struct outpath *p = &o->place;
	int error = errno;

	if (p->refused[0])
		die("cannot write '%s': %s: name another file, or remove it", o->path, p->refused);
	if (p->fd >= 0 && (error == EACCES || error == EPERM || error == EROFS))
		die_errno("cannot replace '%s': its folder takes no new files", o->path);
	if (p->linked[0])
		die_errno("cannot write '%s', a link to '%s'", o->path, p->linked);
	die_errno("cannot write '%s'", o->path);
}

static void open_existing(struct out *o)
{
	o->fd = outpath_open(&o->place, O_WRONLY);
	if (o->fd < 0)
		cannot_create(o);
	outpath_close(&o->place);
}

void out_open(struct out *o, const char *path)
{
	struct outpath *p = &o->place;

	o->path = path && strcmp(path, "-") != 0 && strcmp(path, "/dev/stdout") != 0 ? path : NULL;
	o->temp[0] = 0;
	o->gzip = NULL;
	o->n = 0;
	o->fd = STDOUT_FILENO;
	if (!o->path)
		return;
	if (!*o->path)
		die_usage("the name of the output file is empty");
	if (!outpath_resolve(p, path))
		cannot_create(o);
	errno = EISDIR;
	if (p->fd >= 0 && S_ISDIR(p->st.st_mode))
		die_errno("cannot write '%s'", path);
	if (p->magic || (p->fd >= 0 && !S_ISREG(p->st.st_mode))) {
		open_existing(o);
		return;
	}
	o->fd = tempfile_create(p->folder, p->fd >= 0 ? p->st.st_mode & 0777 : 0666, o->temp);
	if (o->fd < 0)
		cannot_create(o);
	unfinished_in = p->folder;
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
	if (o->temp[0] && fsync(o->fd) < 0)
		die_errno("cannot write '%s'", shown(o));
	/* also standard output: some file systems report a full disk only now */
	if (close(o->fd) < 0)
		die_errno("cannot write '%s'", shown(o));
	if (o->temp[0]) {
		if (renameat(o->place.folder, o->temp, o->place.folder, o->place.name) < 0)
			die_errno("cannot replace '%s'", o->path);
		unfinished = NULL;
		o->temp[0] = 0;
		outpath_close(&o->place);
	}
	o->fd = -1;
}
