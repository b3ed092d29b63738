/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstdstream.h - decompression of COMPRESSED records, which together are one zstd stream without end mark.
 *
 * The module hides libzstd. In a build without libzstd, perfzstd_here is false and zstdstream_inflate() always fails,
 * so the caller checks perfzstd_here first and reports that libzstd is missing.
 */
#ifndef PJ_ZSTDSTREAM_H
#define PJ_ZSTDSTREAM_H

#include "common/str.h"

/* True if pjfold was built with libzstd. */
extern const bool perfzstd_here;

struct zstdstream {
	/* The decompressor, a ZSTD_DCtx; NULL before the first record. */
	void *stream;
	/* True if the stream is damaged: records are dropped until one starts with the magic number of a new stream. */
	bool broken;
};

/* Decompresses bytes of *packed, the data of a COMPRESSED record, into at most `space` bytes at `to`. Removes the bytes
 * read from *packed, sets *made to the number of bytes written, and *more to true if another call with the rest of
 * *packed may give more bytes. Returns false if the stream is damaged: *packed then is empty. */
bool zstdstream_inflate(struct zstdstream *zstdstream, struct str *packed, char *to, size_t space, size_t *made,
			bool *more);

/* Frees the decompressor and resets the struct. */
void zstdstream_free(struct zstdstream *zstdstream);

#endif
