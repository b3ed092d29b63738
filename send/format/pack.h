/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - bytes packed by gzip or zstd, into memory and out of files.
 *
 * Hides both libraries; zstd is there where it was built in. Files are read piece by piece, so a small file that
 * unpacks to very much costs no memory here. Failure is a value: who packs is a daemon.
 */
#ifndef PJ_PACK_H
#define PJ_PACK_H

#include "common/text.h"

extern const bool pack_has_zstd;

/* Levels for what is kept. Windows are long lines that are alike, so looking for the longest match pays: zstd's 6 needs
 * a quarter less than its 3 and a third less than gzip, for 10 ms a window; beyond it, time grows, and little else. */
#define PACK_GZIP 6
#define PACK_ZSTD 6
#define PACK_ZSTD_SHORT 3 /* for what is gone soon */

/* Appends string, packed; equal bytes give equal bytes. False: it cannot be (no memory). */
bool pack_gzip(struct text *text, struct str string, int level);
bool pack_zstd(struct text *text, struct str string, int level); /* false: not built in */

/* gzip of what comes piece by piece. */
struct gzip;
struct gzip *gzip_open(int level); /* NULL: no memory */
void gzip_add(struct gzip *gzip, struct text *text, struct str string,
	      bool last);           /* last: what was added ends here, and the next begins anew */
void gzip_close(struct gzip *gzip); /* NULL does nothing */

struct unpack {
	int fd;             /* the caller's */
	const char *errors; /* NULL, or why it ended early */
	int error;          /* errno of that if the bytes are not at fault: later they may be read; else 0 */
	struct unpack_state *state;
};

/* Which of the two, or neither, is told by the first bytes. */
void unpack_open(struct unpack *unpack, int fd);
void unpack_next(struct unpack *unpack,
		 int fd); /* another file, with the memory of the one before; unpack is {0} at first */
size_t unpack_read(struct unpack *unpack, char *buf, size_t n); /* 0: the end, or damage */
void unpack_close(struct unpack *unpack);

/* Whole lines, newlines included, of up to about a megabyte; damage is set where a line is longer than 64 MB, or the
 * last is cut. */
bool unpack_lines(struct unpack *unpack, struct str *lines);

#endif
