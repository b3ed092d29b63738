/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in.h - reads bytes and lines of a file or standard input, plain or gzip.
 *
 * gzip is recognized by its first bytes, not by the name of the file. The tool ends with a message if the input cannot
 * be opened or read. gzip data that are damaged or end in the middle do not end the tool: the reader gets the complete
 * lines before the damage, then the end of the input, and `errors` has the reason. The tool then writes its results and
 * exits with status 1.
 */
#ifndef PJ_IN_H
#define PJ_IN_H

#include "common/diag.h"
#include "common/progress.h"
#include "common/str.h"

#define IN_LINE_MAX ((size_t)1 << 30) /* limit for a line in bytes; the tool ends at a longer one, which is no text */

struct in {
	const char *name;         /* path as the user gave it, or "standard input" */
	const char *errors;       /* reason why the input ended early; NULL if it did not */
	uint64_t line;            /* number of the line that in_line returned last */
	uint64_t nread;           /* number of bytes of the file read so far, before decompression */
	struct progress progress; /* progress line on the terminal */
	int fd;
	uint64_t start; /* file offset in fd at which the input begins, in bytes */
	/* eof: true if the input has ended; regular: true if fd is a regular file; borrowed: true if `raw` belongs to
	 * the caller of in_memory */
	bool eof, regular, borrowed;
	struct in_gzip *gzip; /* state of decompression; NULL: the input is not compressed */
	char *raw;            /* bytes of the file that are read, but not yet decompressed or returned */
	size_t raw_at, raw_n;
	char *buf; /* buffer of in_peek and in_line; n bytes from buf + at on are not consumed yet */
	size_t at, n, cap;
	/* For in_line_after: length of the previous line with its newline, which precedes buf + at; 0: none. */
	size_t before;
};

/* Opens an input; path NULL or "-" is standard input. Ends the tool with a message if the input cannot be opened or is
 * a directory. */
void in_open(struct in *input, const char *path);

/* Opens a text in memory as an input. The text must exist until in_close. `name` appears in messages. */
void in_memory(struct in *input, struct str text, const char *name);

/* Ends the tool if the input is not text (perf.data, xz, ...); the message names the program that converts it, if there
 * is one. Skips a UTF-8 byte order mark. Must be called before anything is read. */
void in_expect_text(struct in *input);

/* Like in_expect_text, but accepts text in any format: text of another profiler does not end the tool. */
void in_expect_lines(struct in *input);

/* Reads up to n bytes into buf. Returns the number of bytes read; 0 only at the end of the input. */
size_t in_read(struct in *input, char *buf, size_t n);

/* Returns the next n bytes without consuming them; fewer if the input ends before. The result is valid until the next
 * call. */
struct str in_peek(struct in *input, size_t n);

/* Reads the next line into *line, without its newline (a CR before the newline stays). The last line needs no newline.
 * Returns false at the end of the input. *line is valid until the next call. */
bool in_line(struct in *input, struct str *line);

/* Like in_line, but also sets *same to the length of the common prefix of this line and the previous one, in bytes; 0
 * if this function did not read the previous line. Saves time, because it does not search the common prefix for a
 * newline again. */
bool in_line_after(struct in *input, struct str *line, size_t *same);

/* Returns true if in_pread can read the input at any offset: if it is a regular file without compression. Then sets
 * *size to its size in bytes. */
bool in_seekable(const struct in *input, uint64_t *size);

/* Makes the input seekable by copying its decompressed bytes to an unnamed temporary file in TMPDIR. Must be called
 * before anything is read. Ends the tool if the copy is larger than 256 MB and than 200 times the compressed input. */
void in_spool(struct in *input);

/* Returns the folder for the temporary file of in_spool: TMPDIR, or /tmp if TMPDIR is not set. */
const char *in_spool_folder(void);

/* Reads up to n bytes at an offset of the input to buf; does not affect in_read. Returns the number of bytes read:
 * fewer than n only at the end of the input. To be called if in_seekable returns true. */
size_t in_pread(struct in *input, char *buf, size_t n, uint64_t offset);

/* Returns the position of the line that in_line returned last, for messages. */
struct place in_place(const struct in *input);

void in_close(struct in *input);

#endif
