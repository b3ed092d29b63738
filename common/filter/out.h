/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out.h - output that is complete or absent, and never lost silently.
 *
 * With a path, bytes go to a temporary file beside it that takes the name only in out_close, after fsync; a tool that
 * dies or is interrupted leaves no file. Symbolic links are followed, unless another user may have planted them
 * (outpath.h). Pipes, devices and terminals named as path are written directly. Every write error, also a late one such
 * as a full disk at close, ends the tool with status 1; a reader that leaves a pipe ends it quietly by SIGPIPE.
 */
#ifndef PJ_OUT_H
#define PJ_OUT_H

#include "common/str.h"

struct out {
	const char *path; /* path of the output; NULL: standard output */
	bool temporary;   /* true if fd is a temporary file, which out_close renames (outfile.h) */
	int fd;
	struct out_gzip *gzip; /* state of compression; NULL: the output is not compressed */
	size_t n;
	char buf[256 * 1024];
};

/* Installs signal handlers that remove the temporary file. out_open calls this; a tool that gives up its rights before
 * out_open calls it itself. */
void out_prepare(void);

/* Opens the output: standard output if path is NULL or "-". Only one output can be a temporary file at a time. */
void out_open(struct out *out, const char *path);
/* Compresses all that is written afterwards, by gzip without name and time, so that equal bytes give equal files. Call
 * it before anything is written. */
void out_gzip(struct out *out);
void out_bytes(struct out *out, const void *p, size_t n);
void out_str(struct out *out, struct str string);
/* Writes string with the escapes of visible.h. */
void out_visible(struct out *out, struct str string);
void out_text(struct out *out, const char *string);
void out_u64(struct out *out, uint64_t value);
void out_printf(struct out *out, const char *fmt, ...) PRINTF(2, 3);
/* Writes all buffered bytes and closes the output; gives a temporary file its name, after fsync. Ends the tool if any
 * step fails. */
void out_close(struct out *out);

static inline void out_char(struct out *out, char byte)
{
	if (out->n < sizeof(out->buf))
		out->buf[out->n++] = byte;
	else
		out_bytes(out, &byte, 1);
}

#endif
