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

/* path NULL or "-" is standard input. Directories are refused with a message. */
void in_open(struct in *input, const char *path);

/* Plain text that is in memory already, and stays there until in_close; name is for messages. */
void in_memory(struct in *input, struct str text, const char *name);

/* Dies when what comes is not text, and names the tool that makes text of it where there is one (perf.data, xz, ...).
 * Skips a UTF-8 byte order mark. To be called before anything is read. */
void in_expect_text(struct in *input);

/* Up to n bytes; 0 only at the end. */
size_t in_read(struct in *input, char *buf, size_t n);

/* The next bytes without consuming them: n, or fewer when the input ends before. Valid until the next call. */
struct str in_peek(struct in *input, size_t n);

/* The next line without its newline (a CR before it stays), valid until the next call. False at the end. The last
 * line needs no newline. */
bool in_line(struct in *input, struct str *line);

/* The same. *same: how many bytes it and the line before, if that was read this way, begin with alike. They are not
 * searched for a newline again. */
bool in_line_after(struct in *input, struct str *line, size_t *same);

/* Returns true if in_pread can read at any offset, which is so for a plain regular file. Sets *size to its bytes. */
bool in_seekable(const struct in *input, uint64_t *size);

/* Makes the input seekable: copies it into a temporary file without a name in TMPDIR. Nothing may have been consumed.
 * Dies if the copy becomes a few hundred times as large as the compressed input. */
void in_spool(struct in *input);

/* Returns the folder of the temporary file of in_spool: TMPDIR, or /tmp if that is not set. */
const char *in_spool_folder(void);

/* Up to n bytes from there on, whatever in_read does; fewer at the end of the file, as it is now. */
size_t in_pread(struct in *input, char *buf, size_t n, uint64_t offset);

struct place in_place(const struct in *input); /* of the line returned last */

void in_close(struct in *input);

#endif
