/* SPDX-License-Identifier: Apache-2.0 */
#include "common/filter/in.h"

#include "common/arena.h"
#include "common/filter/broker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define RAW_SIZE (64 * 1024)
#define LINE_READ (64 * 1024)

struct in_gzip {
	z_stream z;
	bool in_member; /* between header and trailer of a gzip member */
};

/* Once more of the file into raw; false at its end. */
static bool fill_raw(struct in *in)
{
	ssize_t n;

	do
		n = read(in->fd, in->raw, RAW_SIZE);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		die_errno("cannot read '%s'", in->name);
	in->raw_at = 0;
	in->raw_n = (size_t)n;
	in->nread += (uint64_t)n;
	progress_at(&in->progress, in->nread);
	return n > 0;
}

/* Reads until two bytes are there, as a pipe may give one at a time. */
static bool is_gzip(struct in *in)
{
	ssize_t n = 1;

	while (in->raw_n < 2 && n > 0) {
		do
			n = read(in->fd, in->raw + in->raw_n, RAW_SIZE - in->raw_n);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			die_errno("cannot read '%s'", in->name);
		in->raw_n += (size_t)n;
		in->nread += (size_t)n;
	}
	return in->raw_n >= 2 && (unsigned char)in->raw[0] == 0x1f && (unsigned char)in->raw[1] == 0x8b;
}

void in_open(struct in *in, const char *path)
{
	struct stat st;

	*in = (struct in){ .name = path };
	if (!path || strcmp(path, "-") == 0) {
		in->name = "standard input";
		in->fd = STDIN_FILENO;
	} else {
		in->fd = broker_input(path);
	}
	if (in->fd < 0 || fstat(in->fd, &st) < 0)
		die_errno("cannot open '%s'", in->name);
	if (S_ISDIR(st.st_mode))
		die(broker_open(in->fd, "data.0", 0) >= 0 ?
			    "cannot read '%s': it is a directory of perf record --threads: perf script -i DIRECTORY |" :
			    "cannot read '%s': it is a directory",
		    in->name);
	if (in->fd == STDIN_FILENO && diag_is_terminal(STDIN_FILENO))
		warn("reading from the terminal; %s --help shows how to use it", diag_tool_name());
	in->regular = S_ISREG(st.st_mode);
	in->start = in->regular ? (uint64_t)lseek(in->fd, 0, SEEK_CUR) : 0;
	progress_begin(&in->progress, S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0);
	in->raw = mem_alloc(1, RAW_SIZE);
	if (is_gzip(in)) {
		in->gzip = mem_alloc(sizeof(*in->gzip), 1);
		in->gzip->in_member = true;
		if (inflateInit2(&in->gzip->z, 15 + 16) != Z_OK)
			die("cannot start zlib: out of memory");
	}
}

void in_memory(struct in *in, struct str text, const char *name)
{
	*in = (struct in){
		.name = name, .fd = -1, .raw = (char *)(uintptr_t)text.p, .raw_n = text.n, .borrowed = true
	};
}

/* Members may follow each other (gzip a >> x; gzip b >> x); zero padding behind the last is not an error. */
static bool next_member(struct in *in)
{
	while (in->raw_at < in->raw_n || fill_raw(in)) {
		if (in->raw[in->raw_at] != 0) {
			if ((unsigned char)in->raw[in->raw_at] != 0x1f) {
				in->errors = "garbage behind the end of gzip data";
				return false;
			}
			inflateReset(&in->gzip->z);
			in->gzip->in_member = true;
			return true;
		}
		in->raw_at++;
	}
	return false;
}

static size_t in_read_gzip(struct in *in, char *buf, size_t n)
{
	z_stream *stream = &in->gzip->z;

	if (n > 1u << 30)
		n = 1u << 30;
	stream->next_out = (unsigned char *)buf;
	stream->avail_out = (unsigned)n;
	while (stream->avail_out == n) {
		bool more;
		int status;

		if (!in->gzip->in_member && !next_member(in))
			break;
		/* also without more input: zlib may still hold output of what it has read */
		more = in->raw_at < in->raw_n || fill_raw(in);
		stream->next_in = (unsigned char *)in->raw + in->raw_at;
		stream->avail_in = (unsigned)(in->raw_n - in->raw_at);
		status = inflate(stream, Z_NO_FLUSH);
		in->raw_at = in->raw_n - stream->avail_in;
		if (status == Z_STREAM_END) {
			in->gzip->in_member = false;
		} else if (status != Z_OK && status != Z_BUF_ERROR) {
			in->errors = status == Z_DATA_ERROR ? "gzip data is damaged" : "zlib failed";
			break;
		} else if (!more && stream->avail_out == n) {
			in->errors = "gzip data ends in the middle";
			break;
		}
	}
	return n - stream->avail_out;
}

/* As in_read, past what in_peek holds. */
static size_t read_on(struct in *in, char *buf, size_t n)
{
	ssize_t got;

	if (in->eof || n == 0)
		return 0;
	if (in->gzip) {
		size_t m = in_read_gzip(in, buf, n);

		in->eof = m == 0;
		return m;
	}
	if (in->raw_at < in->raw_n) {
		size_t m = in->raw_n - in->raw_at;

		if (m > n)
			m = n;
		memcpy(buf, in->raw + in->raw_at, m);
		in->raw_at += m;
		return m;
	}
	if (in->borrowed) {
		in->eof = true;
		return 0;
	}
	do
		got = read(in->fd, buf, n);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		die_errno("cannot read '%s'", in->name);
	in->nread += (uint64_t)got;
	progress_at(&in->progress, in->nread);
	in->eof = got == 0;
	return (size_t)got;
}

size_t in_read(struct in *in, char *buf, size_t n)
{
	if (in->n == 0)
		return read_on(in, buf, n);
	if (n > in->n)
		n = in->n;
	memcpy(buf, in->buf + in->at, n);
	in->at += n;
	in->n -= n;
	in->before = 0;
	return n;
}

/* Reads once more behind what buf holds; false at the end. */
static bool fill_buf(struct in *in)
{
	size_t got, saved = in->before + in->n;

	if (saved && in->at > in->before)
		memmove(in->buf, in->buf + in->at - in->before, saved);
	in->at = in->before;
	if (in->cap - saved < LINE_READ) {
		if (in->n > IN_LINE_MAX)
			die_at((struct place){ in->name, in->line + 1 }, "line longer than %zu MB: this is not text",
			       IN_LINE_MAX >> 20);
		in->cap = in->cap ? in->cap * 2 : 2 * LINE_READ;
		in->buf = mem_grow(in->buf, 1, in->cap);
	}
	got = read_on(in, in->buf + saved, in->cap - saved);
	in->n += got;
	return got > 0;
}

struct str in_peek(struct in *in, size_t n)
{
	while (in->n < n && fill_buf(in))
		;
	return (struct str){ in->buf + in->at, in->n < n ? in->n : n };
}

void in_expect_text(struct in *in)
{
	static const struct {
		struct str magic;
		const char *what;
	} known[] = {
		{ STR("PERFILE2"), "this is perf.data; pjfold reads it: pjfold FILE" },
		{ STR("2ELIFREP"), "this is perf.data of another byte order: perf script -i FILE | pjfold" },
		{ STR("\xFD"
		      "7zXZ"),
		  "this is compressed by xz: xz -dc FILE |" },
		{ STR("\x28\xB5\x2F\xFD"), "this is compressed by zstd: zstd -dc FILE |" },
		{ STR("BZh"), "this is compressed by bzip2: bzip2 -dc FILE |" },
		{ STR("\x1F\x8B"), "this is compressed twice: gzip -dc FILE |" },
		{ STR("\xFF\xFE"), "this is UTF-16: iconv -f UTF-16 -t UTF-8 FILE |" },
		{ STR("\xFE\xFF"), "this is UTF-16: iconv -f UTF-16 -t UTF-8 FILE |" },
		{ STR("<svg "), "this is a picture: pjsvg --unpack takes the folded stacks out of it" },
		{ STR("<?xml"),
		  "this is a picture or other XML: pjsvg --unpack takes the folded stacks out of pictures of pj" },
	};
	struct place place = { in->name, 0 };
	struct str head = in_peek(in, 64 * 1024);

	for (size_t i = 0; i < countof(known); i++)
		if (str_starts(head, known[i].magic))
			die_at(place, "%s", known[i].what);
	if (str_find(head, 0) >= 0)
		die_at(place, "binary data: neither perf script text nor folded stacks");
	if (str_starts(head, STR("\xEF\xBB\xBF"))) {
		in->at += 3;
		in->n -= 3;
	}
}

/* The line's first bytes, as many as scanned says, hold no newline. */
static bool end_line(struct in *in, struct str *line, size_t scanned)
{
	char *newline;

	do {
		newline = in->n > scanned ? memchr(in->buf + in->at + scanned, '\n', in->n - scanned) : NULL;
		scanned = in->n;
	} while (!newline && fill_buf(in));
	if (!newline && (in->n == 0 || in->errors))
		return false; /* half a line could be taken for a whole one: "a 12" of "a 123" */
	line->p = in->buf + in->at;
	line->n = newline ? (size_t)(newline - line->p) : in->n;
	in->at += line->n + (newline != NULL);
	in->n -= line->n + (newline != NULL);
	in->line++;
	return true;
}

bool in_line(struct in *in, struct str *line)
{
	return end_line(in, line, 0);
}

bool in_line_after(struct in *in, struct str *line, size_t *same)
{
	size_t n = 0, max = in->before ? in->before - 1 : 0;

	while (n < max) {
		struct str before = { in->buf + in->at - in->before + n, max - n };

		n += str_common(before, (struct str){ in->buf + in->at + n, in->n - n });
		if (n < in->n || !fill_buf(in))
			break;
	}
	*same = n;
	if (!end_line(in, line, n))
		return false;
	in->before = line->n + 1;
	return true;
}

bool in_seekable(const struct in *in, uint64_t *size)
{
	struct stat st;

	if (!in->regular || in->gzip || fstat(in->fd, &st) < 0)
		return false;
	*size = (uint64_t)st.st_size > in->start ? (uint64_t)st.st_size - in->start : 0;
	return true;
}

/* Recordings pack to a tenth, zeroes to a thousandth: a few MB must not fill a disk. */
#define SPOOL_FREE ((uint64_t)256 << 20)
#define SPOOL_TIMES 200u

static void spool_write(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t m = write(fd, p, n);

		if (m < 0 && errno != EINTR)
			die_errno("cannot write a temporary file");
		if (m > 0) {
			p += m;
			n -= (size_t)m;
		}
	}
}

const char *in_spool_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

void in_spool(struct in *in)
{
	char *buf = mem_alloc(1, RAW_SIZE);
	uint64_t total = 0;
	size_t n;
	int fd = broker_spool(in_spool_folder());

	if (fd < 0)
		die_errno("cannot make a temporary file for '%s'", in->name);
	while ((n = in_read(in, buf, RAW_SIZE)) > 0) {
		total += n;
		if (total > SPOOL_FREE && total / SPOOL_TIMES > in->nread)
			die("'%s' unpacks to more than %u times its size: a bomb, no recording", in->name, SPOOL_TIMES);
		spool_write(fd, buf, n);
	}
	free(buf);
	if (in->gzip)
		inflateEnd(&in->gzip->z);
	free(in->gzip);
	in->gzip = NULL;
	if (in->fd > STDERR_FILENO)
		close(in->fd);
	in->fd = fd;
	in->start = 0;
	in->regular = true;
}

size_t in_pread(struct in *in, char *buf, size_t n, uint64_t offset)
{
	size_t got = 0;

	while (got < n && offset + got <= INT64_MAX - in->start) {
		ssize_t m = pread(in->fd, buf + got, n - got, (off_t)(in->start + offset + got));

		if (m < 0 && errno == EINTR)
			continue;
		if (m < 0)
			die_errno("cannot read '%s'", in->name);
		if (m == 0)
			break;
		got += (size_t)m;
	}
	return got;
}

struct place in_place(const struct in *in)
{
	return (struct place){ in->name, in->line };
}

void in_close(struct in *in)
{
	progress_end(&in->progress);
	if (in->gzip)
		inflateEnd(&in->gzip->z);
	free(in->gzip);
	if (!in->borrowed)
		free(in->raw);
	free(in->buf);
	if (in->fd > STDERR_FILENO)
		close(in->fd);
	*in = (struct in){ .name = in->name, .errors = in->errors };
}
