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

/* Number of bytes from which writing them at once costs less than copying them into pages of the buffer that were not
 * used before. */
#define DIRECT (32 * 1024)

struct out_gzip {
	z_stream z;
	unsigned char buf[64 * 1024];
};

static pid_t process;

/* Removes the temporary file and ends the process by the same signal. The handler may run in any thread; it sends the
 * signal, whose action is now the default, to the first thread of the process. */
static void out_on_signal(int sig)
{
	/* a forked process has another PID than `process`, so getpid() comes first; in the sandbox getpid() fails, and
	 * `process` is used */
	pid_t own = getpid();

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

static const char *out_shown(const struct out *out)
{
	return out->path ? out->path : "standard output";
}

static NORETURN void out_give_up(const struct outfile_failure *why)
{
	if (!why->error)
		die("%s", why->text);
	die("%s: %s: %s", why->text, strerror(why->error), outpath_advice(why->error));
}

void out_open(struct out *out, const char *path)
{
	struct outfile_failure why;

	out->path = path && strcmp(path, "-") != 0 && strcmp(path, "/dev/stdout") != 0 ? path : NULL;
	out->temporary = false;
	out->gzip = NULL;
	out->n = 0;
	out->fd = STDOUT_FILENO;
	if (!out->path)
		return;
	if (!*out->path)
		die_usage("the name of the output file is empty");
	out->fd = broker_output(path, &out->temporary, &why);
	if (out->fd < 0)
		out_give_up(&why);
	if (!out->temporary)
		return;
	diag_at_death(broker_output_discard);
	out_prepare();
}

static void out_write_all(struct out *out, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(out->fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			die_errno(out->path ? "cannot write '%s'" : "cannot write %s", out_shown(out));
		p += done;
		n -= (size_t)done;
	}
}

void out_gzip(struct out *out)
{
	out->gzip = mem_alloc(sizeof(*out->gzip), 1);
	if (deflateInit2(&out->gzip->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		die("cannot start zlib: out of memory");
}

static void compress_all(struct out *out, const char *p, size_t n, int how)
{
	z_stream *stream = &out->gzip->z;

	stream->next_in = (unsigned char *)(uintptr_t)p;
	do {
		size_t part = n < 1u << 30 ? n : 1u << 30;
		stream->avail_in = (unsigned)part;
		n -= part;
		do {
			stream->next_out = out->gzip->buf;
			stream->avail_out = sizeof(out->gzip->buf);
			deflate(stream, n ? Z_NO_FLUSH : how);
			out_write_all(out, (const char *)out->gzip->buf, sizeof(out->gzip->buf) - stream->avail_out);
		} while (stream->avail_out == 0);
	} while (n);
}

static void pass_on(struct out *out, const char *p, size_t n)
{
	if (out->gzip)
		compress_all(out, p, n, Z_NO_FLUSH);
	else
		out_write_all(out, p, n);
}

static void out_flush(struct out *out)
{
	pass_on(out, out->buf, out->n);
	out->n = 0;
}

static void end_gzip(struct out *out)
{
	compress_all(out, NULL, 0, Z_FINISH);
	deflateEnd(&out->gzip->z);
	free(out->gzip);
	out->gzip = NULL;
}

void out_bytes(struct out *out, const void *p, size_t n)
{
	bool direct = n >= sizeof(out->buf) || (n >= DIRECT && !out->gzip);

	if (direct || n > sizeof(out->buf) - out->n)
		out_flush(out);
	if (direct) {
		pass_on(out, p, n);
		return;
	}
	if (n)
		memcpy(out->buf + out->n, p, n);
	out->n += n;
}

void out_str(struct out *out, struct str string)
{
	out_bytes(out, string.p, string.n);
}

void out_visible(struct out *out, struct str string)
{
	struct text text = { 0 };

	if (visible_plain_length(string) == string.n) {
		out_str(out, string);
		return;
	}
	visible_str(&text, string);
	out_str(out, text_view(&text));
	text_free(&text);
}

void out_text(struct out *out, const char *string)
{
	out_bytes(out, string, strlen(string));
}

void out_u64(struct out *out, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + value % 10);
	while (value /= 10);
	out_bytes(out, digits + at, sizeof(digits) - at);
}

void out_printf(struct out *out, const char *fmt, ...)
{
	char text[1024], *longer = NULL;
	va_list args;
	int got;

	va_start(args, fmt);
	got = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (got >= (int)sizeof(text)) {
		longer = mem_alloc(1, (size_t)got + 1);
		va_start(args, fmt);
		vsnprintf(longer, (size_t)got + 1, fmt, args);
		va_end(args);
	}
	if (got > 0)
		out_bytes(out, longer ? longer : text, (size_t)got);
	free(longer);
}

void out_close(struct out *out)
{
	struct outfile_failure why;

	out_flush(out);
	if (out->gzip)
		end_gzip(out);
	/* standard output is closed, too, because some file systems report a full disk only at close() */
	if (close(out->fd) < 0)
		die_errno(out->path ? "cannot write '%s'" : "cannot write %s", out_shown(out));
	if (out->temporary && !broker_output_commit(out->path, &why))
		out_give_up(&why);
	out->temporary = false;
	out->fd = -1;
}
