/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/minidebug.h"

#if PJ_LZMA

#include <lzma.h>

/* memory limit of the decoder in bytes, above which decompression fails; xz -9 needs 65 MB */
#define MEMORY_MAX (128u << 20)
#define IMAGE_MAX (64u << 20)

bool minidebug_unpack(struct text *out, struct str packed)
{
	lzma_stream x = LZMA_STREAM_INIT;
	lzma_ret status = lzma_stream_decoder(&x, MEMORY_MAX, 0);

	x.next_in = (const uint8_t *)packed.p;
	x.avail_in = packed.n;
	while (status == LZMA_OK && out->n < IMAGE_MAX) {
		text_reserve(out, 1u << 16);
		x.next_out = (uint8_t *)out->p + out->n;
		x.avail_out = out->cap - out->n;
		status = lzma_code(&x, LZMA_FINISH);
		out->n = out->cap - x.avail_out;
	}
	lzma_end(&x);
	return status == LZMA_STREAM_END;
}

#else

bool minidebug_unpack(struct text *out, struct str packed)
{
	(void)out;
	(void)packed;
	return false;
}

#endif
