/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in.h - bytes and lines of a file, of standard input, plain or gzip.
 *
 * gzip is recognised by its first bytes, not by its name. What cannot be opened or read ends the tool with a message.
 * Input that is cut or damaged in the middle (gzip) is different: the complete lines before are delivered, then the
 * input ends and `damage` has the reason; the tool writes what it has and exits 1.
 */
#ifndef PJ_IN_H
#define PJ_IN_H

#include "common/diag.h"
#include "common/progress.h"
#include "common/str.h"

#define IN_LINE_MAX ((size_t)1 << 30) /* a longer line is not text: die */

struct in {
	const char *name;         /* as given, "-" shown as "standard input" */
	const char *errors;       /* NULL, or why the input ended early */
	uint64_t line;            /* number of the line that in_line returned last */
	uint64_t nread;           /* raw bytes consumed so far */
	struct progress progress; /* shown while reading takes long */
	int fd;
	uint64_t start;              /* where in fd the input began */
	bool eof, regular, borrowed; /* borrowed: raw is in_memory's caller's */
	struct in_gzip *gzip;        /* NULL: plain */
	char *raw;                   /* sniffed or compressed bytes not yet consumed */
	size_t raw_at, raw_n;
	char *buf; /* in_line, in_peek: bytes not yet returned */
	size_t at, n, cap;
	size_t before; /* in_line_after: bytes in front of them that are the line before and its newline */
};

/* Opens an input. path NULL or "-" is standard input. Refuses directories with a message. */
void in_open(struct in *input, const char *path);

/* Opens plain text in memory, which must stay until in_close. name is for messages. */
void in_memory(struct in *input, struct str text, const char *name);

/* Dies if the input is not text, and names the tool that converts it to text if one exists (perf.data, xz, ...). Skips
 * a UTF-8 byte order mark. Call it before anything is read. */
void in_expect_text(struct in *input);

/* Reads up to n bytes. Returns their number; 0 only at the end. */
size_t in_read(struct in *input, char *buf, size_t n);

/* Returns the next n bytes without consuming them, or fewer if the input ends before. Valid until the next call. */
struct str in_peek(struct in *input, size_t n);

/* Reads the next line into *line, without its newline (a CR before it stays). The last line needs no newline. Returns
 * false at the end. Valid until the next call. */
bool in_line(struct in *input, struct str *line);

/* As in_line. Sets *same to the number of bytes in which the line and the line before, if also read by this function,
 * begin alike; these bytes are not searched for a newline again. */
bool in_line_after(struct in *input, struct str *line, size_t *same);

/* Returns true if in_pread can read at any offset, which is so for a plain regular file. Sets *size to its bytes. */
bool in_seekable(const struct in *input, uint64_t *size);

/* Makes the input seekable: copies it into a temporary file without a name in TMPDIR. Nothing may have been consumed.
 * Dies if the copy becomes a few hundred times as large as the compressed input. */
void in_spool(struct in *input);

/* Returns the folder of the temporary file of in_spool: TMPDIR, or /tmp if that is not set. */
const char *in_spool_folder(void);

/* Reads up to n bytes at an offset, independently of in_read. Returns their number; fewer than n at the present end of
 * the file. */
size_t in_pread(struct in *input, char *buf, size_t n, uint64_t offset);

struct place in_place(const struct in *input); /* position of the line that was returned last */

void in_close(struct in *input);

#endif
