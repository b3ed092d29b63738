/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - gzip and zstd compression, into memory and out of files.
 *
 * Hides both libraries; zstd is available if it was built in. Files are decompressed in parts, so a small file with
 * huge content takes no memory here. Errors are return values, as daemons use this module.
 *
 *	struct unpack u;
 *	unpack_open(&u, fd);
 *	while (unpack_lines(&u, &lines)) ...
 *	if (u.errors) warn("%s", u.errors);
 *	unpack_close(&u);
 */
#ifndef PJ_PACK_H
#define PJ_PACK_H

#include "common/text.h"

/* True if this build has zstd. */
extern const bool pack_has_zstd;

/* Compression levels for stored data. Windows consist of long, similar lines, so the search for the longest match pays.
 * zstd's level 6 needs a quarter less space than its level 3 and a third less than gzip, for 10 ms a window. Higher
 * levels cost more time and save hardly anything. */
#define PACK_GZIP 6
#define PACK_ZSTD 6
/* compression level of zstd for data that is deleted soon */
#define PACK_ZSTD_SHORT 3

/* Append string, compressed, to text; equal input gives equal output. Return false if memory is short, or if this build
 * lacks zstd. */
bool pack_gzip(struct text *text, struct str string, int level);
bool pack_zstd(struct text *text, struct str string, int level);

/* Compression by gzip of data that arrives in parts: gzip_open, gzip_add for each part, gzip_close. */
struct gzip;
/* Returns a new compressor; NULL if memory is short. The caller closes it by gzip_close. */
struct gzip *gzip_open(int level);
/* Compresses string and appends the output to text. `last` ends the gzip member; the next call begins a new one. */
void gzip_add(struct gzip *gzip, struct text *text, struct str string, bool last);
/* Frees a compressor. NULL is allowed. */
void gzip_close(struct gzip *gzip);

/* A file that is being decompressed. */
struct unpack {
	/* descriptor of the file; the caller closes it */
	int fd;
	/* reason for which decompression ended early; NULL: none */
	const char *errors;
	/* errno of that early end if the data is not at fault, so that a later attempt may succeed; else 0 */
	int error;
	struct unpack_state *state;
};

/* Starts to decompress the file fd. Its first bytes determine the format: gzip, zstd, or uncompressed. */
void unpack_open(struct unpack *unpack, int fd);
/* Starts to decompress another file, like unpack_open, but reuses the memory of the one before. *unpack is {0} at
 * first. */
void unpack_next(struct unpack *unpack, int fd);
/* Stores the next decompressed bytes in buf and returns their number, 1 to n; 0 at the end, or if the data is corrupt
 * (unpack->errors). */
size_t unpack_read(struct unpack *unpack, char *buf, size_t n);
/* Frees the memory of *unpack, but does not close its fd. */
void unpack_close(struct unpack *unpack);

/* Sets *lines to the next complete lines, newlines included, about a megabyte of them; they are valid until the next
 * call. Returns false at the end. Sets unpack->errors if a line is longer than 64 MB, or if the last line has no
 * newline. */
bool unpack_lines(struct unpack *unpack, struct str *lines);

#endif
