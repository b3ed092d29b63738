/* SPDX-License-Identifier: Apache-2.0 */
#include "common/filter/in.h"

#include "common/filter/foreign.h"
#include "common/arena.h"
#include "common/filter/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define RAW_SIZE (64 * 1024)
#define LINE_READ (64 * 1024)

struct in_gzip {
	z_stream z;
	bool in_member; /* true while the next bytes belong to a gzip member, false before its header */
};

/* Reads the next bytes of the file into input->raw. Returns false at the end of the file; ends the tool on a read
 * error. */
static bool fill_raw(struct in *input)
{
	ssize_t got;

	do
		got = read(input->fd, input->raw, RAW_SIZE);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		die_errno("cannot read '%s'", input->name);
	input->raw_at = 0;
	input->raw_n = (size_t)got;
	input->nread += (uint64_t)got;
	progress_at(&input->progress, input->nread);
	return got > 0;
}

/* Returns true if the input begins with the magic number of gzip. Reads until it has two bytes, since a pipe may
 * deliver one at a time. */
static bool is_gzip(struct in *input)
{
	ssize_t got = 1;

	while (input->raw_n < 2 && got > 0) {
		do
			got = read(input->fd, input->raw + input->raw_n, RAW_SIZE - input->raw_n);
		while (got < 0 && errno == EINTR);
		if (got < 0)
			die_errno("cannot read '%s'", input->name);
		input->raw_n += (size_t)got;
		input->nread += (size_t)got;
	}
	return input->raw_n >= 2 && (unsigned char)input->raw[0] == 0x1f && (unsigned char)input->raw[1] == 0x8b;
}

/* Ends the tool with a message that the input is a directory. The message has advice if perf record --threads or
 * pjrecord made the directory. */
static NORETURN void die_of_directory(const struct in *input)
{
	if (broker_open(input->fd, "data.0", 0) >= 0)
		die("cannot read '%s': it is a directory of perf record --threads: perf script -i DIRECTORY |",
		    input->name);
	if (broker_open(input->fd, "out", O_DIRECTORY) >= 0)
		die("cannot read '%s': it is a directory of pjrecord: pjfold %s/out/*.data folds its windows",
		    input->name, input->name);
	die("cannot read '%s': it is a directory: name the files in it", input->name);
}

void in_open(struct in *input, const char *path)
{
	struct stat status;

	*input = (struct in){ .name = path };
	if (!path || strcmp(path, "-") == 0) {
		input->name = "standard input";
		input->fd = STDIN_FILENO;
	} else {
		input->fd = broker_input(path);
	}
	if (input->fd < 0 || fstat(input->fd, &status) < 0)
		die_errno("cannot open '%s'", input->name);
	if (S_ISDIR(status.st_mode))
		die_of_directory(input);
	if (input->fd == STDIN_FILENO && diag_is_terminal(STDIN_FILENO))
		warn("reading from the terminal; see %s --help", diag_tool_name());
	input->regular = S_ISREG(status.st_mode);
	input->start = input->regular ? (uint64_t)lseek(input->fd, 0, SEEK_CUR) : 0;
	progress_begin(&input->progress, S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0);
	input->raw = mem_grow(NULL, 1, RAW_SIZE); /* not zeroed, because most inputs use only a part of the buffer */
	if (is_gzip(input)) {
		input->gzip = mem_alloc(sizeof(*input->gzip), 1);
		input->gzip->in_member = true;
		if (inflateInit2(&input->gzip->z, 15 + 16) != Z_OK)
			die("cannot start zlib: out of memory");
	}
}

void in_memory(struct in *input, struct str text, const char *name)
{
	*input = (struct in){
		.name = name, .fd = -1, .raw = (char *)(uintptr_t)text.p, .raw_n = text.n, .borrowed = true
	};
}

/* Starts the next gzip member. Members may follow each other (gzip a >> x; gzip b >> x), and the last one may be
 * followed by zeros. Returns false at the end of the input or on an error. */
static bool next_member(struct in *input)
{
	while (input->raw_at < input->raw_n || fill_raw(input)) {
		if (input->raw[input->raw_at] != 0) {
			if ((unsigned char)input->raw[input->raw_at] != 0x1f) {
				input->errors = "garbage after the end of gzip data";
				return false;
			}
			inflateReset(&input->gzip->z);
			input->gzip->in_member = true;
			return true;
		}
		input->raw_at++;
	}
	return false;
}

static size_t in_read_gzip(struct in *input, char *buf, size_t n)
{
	z_stream *stream = &input->gzip->z;

	if (n > 1u << 30)
		n = 1u << 30;
	stream->next_out = (unsigned char *)buf;
	stream->avail_out = (unsigned)n;
	while (stream->avail_out == n) {
		bool more;
		int status;

		if (!input->gzip->in_member && !next_member(input))
			break;
		/* calls inflate even at the end of the file, because zlib may still have output of the bytes before */
		more = input->raw_at < input->raw_n || fill_raw(input);
		stream->next_in = (unsigned char *)input->raw + input->raw_at;
		stream->avail_in = (unsigned)(input->raw_n - input->raw_at);
		status = inflate(stream, Z_NO_FLUSH);
		input->raw_at = input->raw_n - stream->avail_in;
		if (status == Z_STREAM_END) {
			input->gzip->in_member = false;
		} else if (status != Z_OK && status != Z_BUF_ERROR) {
			input->errors = status == Z_DATA_ERROR ? "gzip data is damaged" : "zlib failed";
			break;
		} else if (!more && stream->avail_out == n) {
			input->errors = "gzip data ends in the middle";
			break;
		}
	}
	return n - stream->avail_out;
}

/* Reads up to n further bytes of the input, which follow those in input->buf, to buf. Returns the number of bytes read;
 * 0 at the end of the input. */
static size_t read_on(struct in *input, char *buf, size_t n)
{
	ssize_t got;

	if (input->eof || n == 0)
		return 0;
	if (input->gzip) {
		size_t m = in_read_gzip(input, buf, n);

		input->eof = m == 0;
		return m;
	}
	if (input->raw_at < input->raw_n) {
		size_t m = input->raw_n - input->raw_at;

		if (m > n)
			m = n;
		memcpy(buf, input->raw + input->raw_at, m);
		input->raw_at += m;
		return m;
	}
	if (input->borrowed) {
		input->eof = true;
		return 0;
	}
	do
		got = read(input->fd, buf, n);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		die_errno("cannot read '%s'", input->name);
	input->nread += (uint64_t)got;
	progress_at(&input->progress, input->nread);
	input->eof = got == 0;
	return (size_t)got;
}

size_t in_read(struct in *input, char *buf, size_t n)
{
	if (input->n == 0)
		return read_on(input, buf, n);
	if (n > input->n)
		n = input->n;
	memcpy(buf, input->buf + input->at, n);
	input->at += n;
	input->n -= n;
	input->before = 0;
	return n;
}

/* Appends more bytes of the input to input->buf. Returns false at the end of the input. */
static bool fill_buf(struct in *input)
{
	size_t got, retained = input->before + input->n;

	if (retained && input->at > input->before)
		memmove(input->buf, input->buf + input->at - input->before, retained);
	input->at = input->before;
	if (input->cap - retained < LINE_READ) {
		if (input->n > IN_LINE_MAX)
			die_at((struct place){ input->name, input->line + 1 },
			       "line longer than %zu MB: not a text file", IN_LINE_MAX >> 20);
		input->cap = input->cap ? input->cap * 2 : 2 * LINE_READ;
		input->buf = mem_grow(input->buf, 1, input->cap);
	}
	got = read_on(input, input->buf + retained, input->cap - retained);
	input->n += got;
	return got > 0;
}

struct str in_peek(struct in *input, size_t n)
{
	while (input->n < n && fill_buf(input))
		;
	return (struct str){ input->buf + input->at, input->n < n ? input->n : n };
}

/* Returns the name of an input as a word of a shell command, or FILE if a shell would not take it literally. */
static const char *in_shell_word(const char *name)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+,:@%-";

	return *name && *name != '-' && !name[strspn(name, plain)] ? name : "FILE";
}

/* Ends the tool if `head`, the start of the input, is that of a format that a command turns into text. The message is
 * the complete command, which writes a file that the tool can read. */
static void refuse_convertible(const struct in *input, struct str head)
{
	static const struct {
		struct str magic;
		const char *what, *command, *ending;
		bool reads_gzip; /* true: the command reads the file, whether compressed by gzip or not */
	} known[] = {
		{ STR("PERFILE2"), "perf.data", "pjfold", "folded", true },
		{ STR("2ELIFREP"), "perf.data of another byte order", "perf script -i", "txt", false },
		{ STR("\xFD"
		      "7zXZ"),
		  "compressed by xz", "xz -dc", "txt", false },
		{ STR("\x28\xB5\x2F\xFD"), "compressed by zstd", "zstd -dc", "txt", false },
		{ STR("BZh"), "compressed by bzip2", "bzip2 -dc", "txt", false },
		{ STR("\x1F\x8B"), "compressed twice", "gzip -dc", "gz", true },
		{ STR("\xFF\xFE"), "UTF-16", "iconv -f UTF-16 -t UTF-8", "txt", false },
		{ STR("\xFE\xFF"), "UTF-16", "iconv -f UTF-16 -t UTF-8", "txt", false },
	};
	const char *word = in_shell_word(input->name);

	const struct place place = { input->name, 0 };

	for (size_t i = 0; i < countof(known); i++) {
		if (!str_starts(head, known[i].magic))
			continue;
		if (input->gzip && !known[i].reads_gzip)
			die_at(place, "this is %s, in gzip: gzip -dc %s | %s - >%s.%s", known[i].what, word,
			       known[i].command, word, known[i].ending);
		die_at(place, "this is %s: %s %s >%s.%s", known[i].what, known[i].command, word, word, known[i].ending);
	}
}

/* Ends the tool if the input is not text, and skips a UTF-8 byte order mark. binary: message for data with NUL bytes.
 * is_foreign: true if text of another profiler ends the tool, too; false if it is accepted. */
static void expect_text(struct in *input, const char *binary, bool is_foreign)
{
	static const struct {
		struct str magic;
		const char *what;
	} known[] = {
		{ STR("<svg "), "this is a picture: pjsvg --unpack extracts its folded stacks" },
		{ STR("<?xml"),
		  "this is a picture or other XML: pjsvg --unpack extracts the folded stacks of a picture of "
		  "pj" },
	};
	struct place place = { input->name, 0 };
	struct str head = in_peek(input, 64 * 1024);
	const char *advice = NULL;

	refuse_convertible(input, head);
	for (size_t i = 0; i < countof(known); i++)
		if (str_starts(head, known[i].magic))
			die_at(place, "%s", known[i].what);
	if (is_foreign)
		advice = foreign_format(str_head(head, head.n < FOREIGN_HEAD ? head.n : FOREIGN_HEAD));
	if (advice)
		die_at(place, "%s", advice);
	if (str_find(head, 0) >= 0)
		die_at(place, "%s", binary);
	if (str_starts(head, STR("\xEF\xBB\xBF"))) {
		input->at += 3;
		input->n -= 3;
	}
}

void in_expect_text(struct in *input)
{
	expect_text(input, "binary data: neither perf script text nor folded stacks", true);
}

void in_expect_lines(struct in *input)
{
	expect_text(input, "binary data: no lines of text", false);
}

/* Sets *line to the next line and consumes the line. scanned: number of bytes at its start that are known to contain no
 * newline. Returns false at the end of the input. */
static bool end_line(struct in *input, struct str *line, size_t scanned)
{
	char *newline;

	do {
		newline =
			input->n > scanned ? memchr(input->buf + input->at + scanned, '\n', input->n - scanned) : NULL;
		scanned = input->n;
	} while (!newline && fill_buf(input));
	if (!newline && (input->n == 0 || input->errors))
		return false; /* drops an incomplete last line, which may look complete: "a 12" of "a 123" */
	line->p = input->buf + input->at;
	line->n = newline ? (size_t)(newline - line->p) : input->n;
	input->at += line->n + (newline != NULL);
	input->n -= line->n + (newline != NULL);
	input->line++;
	return true;
}

bool in_line(struct in *input, struct str *line)
{
	return end_line(input, line, 0);
}

bool in_line_after(struct in *input, struct str *line, size_t *same)
{
	size_t n = 0, max = input->before ? input->before - 1 : 0;

	while (n < max) {
		struct str before = { input->buf + input->at - input->before + n, max - n };

		n += str_common(before, (struct str){ input->buf + input->at + n, input->n - n });
		if (n < input->n || !fill_buf(input))
			break;
	}
	*same = n;
	if (!end_line(input, line, n))
		return false;
	input->before = line->n + 1;
	return true;
}

bool in_seekable(const struct in *input, uint64_t *size)
{
	struct stat status;

	if (!input->regular || input->gzip || fstat(input->fd, &status) < 0)
		return false;
	*size = (uint64_t)status.st_size > input->start ? (uint64_t)status.st_size - input->start : 0;
	return true;
}

/* Limit for the copy of in_spool: the larger one of SPOOL_FREE bytes and SPOOL_TIMES times the compressed input. Beyond
 * it the tool ends. Recordings compress to a tenth, but zeros to a thousandth, so a few MB of zeros could fill a
 * disk. */
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

void in_spool(struct in *input)
{
	char *buf = mem_alloc(1, RAW_SIZE);
	uint64_t total = 0;
	size_t n;
	int fd = broker_spool(in_spool_folder());

	if (fd < 0)
		die_errno("cannot create a temporary file for '%s'", input->name);
	while ((n = in_read(input, buf, RAW_SIZE)) > 0) {
		total += n;
		if (total > SPOOL_FREE && total / SPOOL_TIMES > input->nread)
			die("'%s' decompresses to more than %u times its size: refused as a decompression bomb",
			    input->name, SPOOL_TIMES);
		spool_write(fd, buf, n);
	}
	free(buf);
	if (input->gzip)
		inflateEnd(&input->gzip->z);
	free(input->gzip);
	input->gzip = NULL;
	if (input->fd > STDERR_FILENO)
		close(input->fd);
	input->fd = fd;
	input->start = 0;
	input->regular = true;
}

size_t in_pread(struct in *input, char *buf, size_t n, uint64_t offset)
{
	size_t got = 0;

	while (got < n && offset + got <= INT64_MAX - input->start) {
		ssize_t m = pread(input->fd, buf + got, n - got, (off_t)(input->start + offset + got));

		if (m < 0 && errno == EINTR)
			continue;
		if (m < 0)
			die_errno("cannot read '%s'", input->name);
		if (m == 0)
			break;
		got += (size_t)m;
	}
	return got;
}

struct place in_place(const struct in *input)
{
	return (struct place){ input->name, input->line };
}

void in_close(struct in *input)
{
	progress_end(&input->progress);
	if (input->gzip)
		inflateEnd(&input->gzip->z);
	free(input->gzip);
	if (!input->borrowed)
		free(input->raw);
	free(input->buf);
	if (input->fd > STDERR_FILENO)
		close(input->fd);
	*input = (struct in){ .name = input->name, .errors = input->errors };
}
