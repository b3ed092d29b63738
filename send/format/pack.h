/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - gzip and zstd compression into memory, and decompression of files.
 *
 * The module hides both libraries; zstd is available only if it was built in. It decompresses a file in parts, so a
 * small file with huge content needs little memory here. Daemons use this module, so errors are return values.
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

/* true if zstd is built in */
extern const bool pack_has_zstd;

/* Compression levels for stored data. Windows consist of long, similar lines, so the search for longer matches pays:
 * zstd at level 6 needs a quarter less space than at level 3 and a third less than gzip, for 10 ms per window. Higher
 * levels cost more time and save hardly any space. */
#define PACK_GZIP 6
#define PACK_ZSTD 6
/* compression level of zstd for data that is deleted soon */
#define PACK_ZSTD_SHORT 3

/* pack_gzip and pack_zstd append `string`, compressed, to *text. Equal input gives equal output. level: compression
 * level of the library. They return false if memory is short; pack_gzip also for 2 GB or more, pack_zstd also if
 * zstd is not built in. */
bool pack_gzip(struct text *text, struct str string, int level);
bool pack_zstd(struct text *text, struct str string, int level);

/* A gzip compressor for data that arrives in parts: gzip_open, gzip_add for each part, gzip_close. */
struct gzip;
/* Returns a new compressor, which the caller closes by gzip_close; NULL if memory is short. */
struct gzip *gzip_open(int level);
/* Compresses `string` and appends the output to *text. last: true ends the gzip member, and the next call begins a new
 * one. */
void gzip_add(struct gzip *gzip, struct text *text, struct str string, bool last);
/* Frees a compressor. NULL is allowed. */
void gzip_close(struct gzip *gzip);

/* The state of decompressing a file. */
struct unpack {
	/* descriptor of the file; the caller closes it */
	int fd;
	/* static text with the reason why decompression ended early; NULL: no error */
	const char *errors;
	/* errno if the error is not in the data, e.g. ENOMEM, so that a later attempt may succeed; ENOTSUP if the data
	 * is compressed with zstd, which is not built in; 0: the data is at fault, or no error */
	int error;
	struct unpack_state *state;
};

/* Starts to decompress the file fd. Its first bytes determine the format: gzip, zstd, or uncompressed. */
void unpack_open(struct unpack *unpack, int fd);
/* Starts to decompress the next file fd, as unpack_open does, but reuses the memory of *unpack, which is {0} before the
 * first call. */
void unpack_next(struct unpack *unpack, int fd);
/* Stores the next decompressed bytes in buf and returns their number, 1 to n. Returns 0 at the end of the file, and on
 * an error (unpack->errors). */
size_t unpack_read(struct unpack *unpack, char *buf, size_t n);
/* Returns the text of an errno of unpack->error, with advice if zstd is not built in. */
const char *unpack_strerror(int error);
/* Frees the memory of *unpack, but does not close its fd. */
void unpack_close(struct unpack *unpack);

/* Sets *lines to the next complete lines with their newlines, about 1 MB, which stay valid until the next call. Returns
 * false if no complete line is left, at the end or after an error. Sets unpack->errors, possibly while it still returns
 * lines, also if a line is longer than 64 MB, or if the last line has no newline. */
bool unpack_lines(struct unpack *unpack, struct str *lines);

#endif
