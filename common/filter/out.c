/* SPDX-License-Identifier: Apache-2.0 */
#include "common/filter/out.h"

#include "common/arena.h"
#include "common/filter/broker.h"
#include "common/diag.h"
#include "common/visible.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>

struct out_gzip {
	z_stream z;
	unsigned char buf[64 * 1024];
};

static pid_t process;

/* Whatever thread runs this: the signal, whose action is the default one again, goes to the process. */
static void out_on_signal(int sig)
{
	pid_t own = getpid(); /* that of a forked process; not allowed to one that gave up its rights */

	broker_output_abandon();
	if (own <= 0)
		own = process;
	syscall(SYS_tgkill, own, own, sig);
}

void out_prepare(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction remove = { .sa_handler = out_on_signal, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER) }, before;

	if (process)
		return;
	process = getpid();
	for (size_t i = 0; i < countof(signals); i++)
		if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(signals[i], &remove, NULL);
}

static const char *out_shown(const struct out *o)
{
	return o->path ? o->path : "standard output";
}

static NORETURN void out_give_up(const struct outfile_failure *why)
{
	if (!why->error)
		die("%s", why->text);
	errno = why->error;
	die_errno("%s", why->text);
}

void out_open(struct out *o, const char *path)
{
	struct outfile_failure why;

	o->path = path && strcmp(path, "-") != 0 && strcmp(path, "/dev/stdout") != 0 ? path : NULL;
	o->temporary = false;
	o->gzip = NULL;
	o->n = 0;
	o->fd = STDOUT_FILENO;
	if (!o->path)
		return;
	if (!*o->path)
		die_usage("the name of the output file is empty");
	o->fd = broker_output(path, &o->temporary, &why);
	if (o->fd < 0)
		out_give_up(&why);
	if (!o->temporary)
		return;
	diag_at_death(broker_output_discard);
	out_prepare();
}

static void out_write_all(struct out *o, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(o->fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			die_errno("cannot write '%s'", out_shown(o));
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
			out_write_all(o, (const char *)o->gzip->buf, sizeof(o->gzip->buf) - z->avail_out);
		} while (z->avail_out == 0);
	} while (n);
}

static void pass_on(struct out *o, const char *p, size_t n)
{
	if (o->gzip)
		compress_all(o, p, n, Z_NO_FLUSH);
	else
		out_write_all(o, p, n);
}

static void out_flush(struct out *o)
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
		out_flush(o);
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

void out_visible(struct out *o, struct str s)
{
	struct text t = { 0 };

	if (visible_plain_length(s) == s.n) {
		out_str(o, s);
		return;
	}
	visible_str(&t, s);
	out_str(o, text_view(&t));
	text_free(&t);
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
	struct outfile_failure why;

	out_flush(o);
	if (o->gzip)
		end_gzip(o);
	/* also standard output: some file systems report a full disk only now */
	if (close(o->fd) < 0)
		die_errno("cannot write '%s'", out_shown(o));
	if (o->temporary && !broker_output_commit(o->path, &why))
		out_give_up(&why);
	o->temporary = false;
	o->fd = -1;
}
