/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out.h - writes an output file that is complete or absent; no write error is ignored.
 *
 * With a path, bytes go to a temporary file in the same folder. out_close syncs it and renames it to its final name; a
 * tool that dies or is interrupted leaves no file. Symbolic links are followed, unless another user may have planted
 * them (outpath.h). Pipes, devices and terminals that the path names are written directly. Every write error, also a
 * late one such as a full disk at close(), ends the tool with status 1. If the reader closes a pipe, SIGPIPE ends the
 * tool without a message.
 */
#ifndef PJ_OUT_H
#define PJ_OUT_H

#include "common/str.h"

struct out {
	const char *path; /* path of the output; NULL: standard output */
	bool temporary;   /* true if fd is a temporary file, which out_close renames to `path` */
	int fd;
	struct out_gzip *gzip; /* state of compression; NULL: the output is not compressed */
	size_t n;
	char buf[256 * 1024];
};

/* Installs the signal handlers that remove the temporary file. out_open calls this function; a tool that gives up its
 * rights earlier calls it before that. */
void out_prepare(void);

/* Opens the output; path NULL or "-" is standard output. Only one output can be a temporary file at a time. */
void out_open(struct out *out, const char *path);
/* Compresses all bytes that are written from now on, with gzip headers without name and time, so that equal bytes give
 * equal files. Must be called before anything is written. */
void out_gzip(struct out *out);
void out_bytes(struct out *out, const void *p, size_t n);
void out_str(struct out *out, struct str string);
/* Writes string with unsafe characters escaped (visible_str). */
void out_visible(struct out *out, struct str string);
void out_text(struct out *out, const char *string);
void out_u64(struct out *out, uint64_t value);
void out_printf(struct out *out, const char *fmt, ...) PRINTF(2, 3);
/* Writes the buffered bytes and closes the output; syncs a temporary file and renames it to its final name. Ends the
 * tool if a step fails. */
void out_close(struct out *out);

static inline void out_char(struct out *out, char byte)
{
	if (out->n < sizeof(out->buf))
		out->buf[out->n++] = byte;
	else
		out_bytes(out, &byte, 1);
}

#endif
