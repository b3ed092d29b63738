/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/zstdstream.h"

#ifdef PJ_ZSTD

#include "common/diag.h"

#include <zstd.h>

const bool perfzstd_here = true;

/* Returns true if a record starts with the magic number of a zstd frame, which means that a new stream starts;
 * otherwise false. */
static bool starts_stream(struct str packed)
{
	return str_starts(packed, STR("\x28\xB5\x2F\xFD"));
}

/* Creates the decompressor at the first record. After an error, resets the decompressor if this record starts a new
 * stream. Returns false if the stream is still damaged. */
static bool zstdstream_start(struct zstdstream *zstdstream, struct str packed)
{
	if (!zstdstream->stream && !(zstdstream->stream = ZSTD_createDCtx()))
		die("cannot start zstd: out of memory");
	if (zstdstream->broken && starts_stream(packed)) {
		ZSTD_DCtx_reset(zstdstream->stream, ZSTD_reset_session_only);
		zstdstream->broken = false;
	}
	return !zstdstream->broken;
}

bool zstdstream_inflate(struct zstdstream *zstdstream, struct str *packed, char *to, size_t space, size_t *made,
			bool *more)
{
	ZSTD_inBuffer in = { packed->p, packed->n, 0 };
	ZSTD_outBuffer out = { to, space, 0 };
	size_t status = 0;

	*made = 0;
	*more = false;
	if (zstdstream_start(zstdstream, *packed)) {
		status = ZSTD_decompressStream(zstdstream->stream, &out, &in);
		zstdstream->broken = ZSTD_isError(status);
	}
	if (zstdstream->broken) {
		*packed = (struct str){ 0 };
		return false;
	}
	*packed = str_from(*packed, in.pos);
	*made = out.pos;
	*more = packed->n > 0 || out.pos == space;
	return true;
}

void zstdstream_free(struct zstdstream *zstdstream)
{
	ZSTD_freeDCtx(zstdstream->stream);
	*zstdstream = (struct zstdstream){ 0 };
}

#else

const bool perfzstd_here = false;

bool zstdstream_inflate(struct zstdstream *z, struct str *packed, char *to, size_t space, size_t *made, bool *more)
{
	(void)to;
	(void)space;
	z->broken = true;
	*packed = (struct str){ 0 };
	*made = 0;
	*more = false;
	return false;
}

void zstdstream_free(struct zstdstream *z)
{
	*z = (struct zstdstream){ 0 };
}

#endif
