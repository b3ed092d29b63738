/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in.h - bytes and lines of a file, of standard input, plain or gzip.
 *
 * gzip is recognised by its first bytes, not by its name. What cannot be opened or read ends the tool with a message.
 * Input that is cut or damaged in the middle (gzip) is different: the reader gets the complete lines before, then the
 * input ends and `errors` has the reason; the tool writes its results and exits with status 1.
 */
#ifndef PJ_IN_H
#define PJ_IN_H

#include "common/diag.h"
#include "common/progress.h"
#include "common/str.h"

#define IN_LINE_MAX ((size_t)1 << 30) /* limit in bytes for a line: a longer one is not text, and the tool ends */

struct in {
	const char *name;         /* path as the user gave it, or "standard input" */
	const char *errors;       /* reason why the input ended early; NULL if it did not */
	uint64_t line;            /* number of the line that in_line returned last */
	uint64_t nread;           /* number of bytes of the file read so far, before decompression */
	struct progress progress; /* progress line on the terminal */
	int fd;
	uint64_t start;              /* offset in fd at which the input began */
	bool eof, regular, borrowed; /* borrowed: raw belongs to the caller of in_memory */
	struct in_gzip *gzip;        /* state of decompression; NULL: the input is not compressed */
	char *raw;                   /* bytes of the file that are read but not yet used */
	size_t raw_at, raw_n;
	char *buf; /* bytes of the text that in_peek or in_line has read, from buf + at on n bytes */
	size_t at, n, cap;
	/* For in_line_after: number of bytes before buf + at that are the previous line and its newline. */
	size_t before;
};

/* Opens an input; path NULL or "-" is standard input. Ends the tool with a message if it cannot be opened or is a
 * directory. */
void in_open(struct in *input, const char *path);

/* Opens text in memory, which must exist until in_close. name is for messages. */
void in_memory(struct in *input, struct str text, const char *name);

/* Ends the tool if the input is not text; the message names the program that converts it to text if there is one
 * (perf.data, xz, ...). Skips a UTF-8 byte order mark. Call this before anything is read. */
void in_expect_text(struct in *input);

/* Reads up to n bytes into buf. Returns the number of bytes; 0 only at the end of the input. */
size_t in_read(struct in *input, char *buf, size_t n);

/* Returns the next n bytes without consuming them; fewer if the input ends before. The result is valid until the next
 * call. */
struct str in_peek(struct in *input, size_t n);

/* Reads the next line into *line, without its newline (a CR before the newline stays). The last line needs no newline.
 * Returns false at the end of the input. *line is valid until the next call. */
bool in_line(struct in *input, struct str *line);

/* Like in_line. Also sets *same to the length of the common prefix of this line and the line before, if that was read
 * by this function, too; these bytes are not searched for a newline again. */
bool in_line_after(struct in *input, struct str *line, size_t *same);

/* Returns true if in_pread can read the input at any offset: it is a regular file without compression. Sets *size to
 * its size in bytes. */
bool in_seekable(const struct in *input, uint64_t *size);

/* Makes the input seekable: copies its decompressed bytes into a temporary file without a name in TMPDIR. Nothing may
 * have been read before. Ends the tool if the copy becomes larger than 256 MB and 200 times as large as the compressed
 * input. */
void in_spool(struct in *input);

/* Returns the folder for the temporary file of in_spool: TMPDIR, or /tmp if TMPDIR is not set. */
const char *in_spool_folder(void);

/* Reads up to n bytes at an offset, independently of in_read. Returns the number of bytes; fewer than n if the file
 * ends there. */
size_t in_pread(struct in *input, char *buf, size_t n, uint64_t offset);

/* Returns the position of the line that in_line returned last, for messages. */
struct place in_place(const struct in *input);

void in_close(struct in *input);

#endif
