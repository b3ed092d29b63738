/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstdstream.h - what is inside COMPRESSED records: one stream that goes on from record to record and has no end.
 *
 * Hides libzstd, and whether there is one: without it perfzstd_here is false, and nothing else may be called.
 */
#ifndef PJ_ZSTDSTREAM_H
#define PJ_ZSTDSTREAM_H

#include "common/str.h"

extern const bool perfzstd_here;

struct zstdstream {
	void *stream; /* ZSTD_DCtx */
	bool broken;  /* until a record starts a new stream */
};

/* Takes from *packed and puts up to room bytes into `to`; sets *more when there may be more for the same input. False
 * when it is damaged: the rest of *packed is dropped. */
bool zstdstream_inflate(struct zstdstream *zstdstream, struct str *packed, char *to, size_t space, size_t *made,
			bool *more);

void zstdstream_free(struct zstdstream *zstdstream);

#endif
