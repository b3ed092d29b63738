#include "out.h"

#include "arena.h"
#include "diag.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *unfinished; /* for remove_unfinished only */

static void remove_unfinished(void)
{
	if (unfinished)
		unlink(unfinished);
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

void out_open(struct out *o, const char *path)
{
	struct stat st;
	bool exists;

	o->path = path && strcmp(path, "-") != 0 ? path : NULL;
	o->temp = NULL;
	o->n = 0;
	o->fd = STDOUT_FILENO;
	if (!o->path)
		return;
	exists = stat(path, &st) == 0;
	if (exists && !S_ISREG(st.st_mode)) {
		o->fd = open(path, O_WRONLY | O_CLOEXEC);
		if (o->fd < 0)
			die_errno("cannot write '%s'", path);
		return;
	}
	o->temp = temp_name(path);
	o->fd = open(o->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, exists ? st.st_mode & 0777 : 0666);
	if (o->fd < 0)
		die_errno("cannot create '%s'", o->temp);
	unfinished = o->temp;
	diag_at_death(remove_unfinished);
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

static void flush(struct out *o)
{
	write_all(o, o->buf, o->n);
	o->n = 0;
}

void out_bytes(struct out *o, const void *p, size_t n)
{
	if (n > sizeof(o->buf) - o->n) {
		flush(o);
		if (n >= sizeof(o->buf)) {
			write_all(o, p, n);
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
	if (o->temp && fsync(o->fd) < 0)
		die_errno("cannot write '%s'", shown(o));
	/* also standard output: some file systems report a full disk only now */
	if (close(o->fd) < 0)
		die_errno("cannot write '%s'", shown(o));
	if (o->temp) {
		if (rename(o->temp, o->path) < 0)
			die_errno("cannot rename '%s' to '%s'", o->temp, o->path);
		unfinished = NULL;
		free(o->temp);
		o->temp = NULL;
	}
	o->fd = -1;
}
