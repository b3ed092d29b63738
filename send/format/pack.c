/* SPDX-License-Identifier: Apache-2.0 */
#include "send/format/pack.h"

#include "common/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#ifdef PJ_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
const bool pack_has_zstd = true;
#else
const bool pack_has_zstd = false;
#endif

#define PART ((size_t)64 << 10)
#define LINES ((size_t)1 << 20)
#define LINE_MAX_BYTES ((size_t)64 << 20)

/* ---- compression ----------------------------------------------------------------------------------------------- */

bool pack_gzip(struct text *text, struct str string, int level)
{
	z_stream stream = { 0 };
	size_t before = text->n;
	int status = Z_OK;

	if (string.n > UINT32_MAX / 2 ||
	    deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	text_reserve(text, deflateBound(&stream, string.n));
	stream.next_in = (unsigned char *)(uintptr_t)string.p;
	stream.avail_in = (unsigned)string.n;
	stream.next_out = (unsigned char *)text->p + text->n;
	stream.avail_out = (unsigned)(text->cap - text->n);
	status = deflate(&stream, Z_FINISH);
	text->n += stream.total_out;
	deflateEnd(&stream);
	if (status != Z_STREAM_END)
		text->n = before;
	return status == Z_STREAM_END;
}

bool pack_zstd(struct text *text, struct str string, int level)
{
#ifdef PJ_ZSTD
	size_t n;

	text_reserve(text, ZSTD_compressBound(string.n));
	n = ZSTD_compress(text->p + text->n, text->cap - text->n, string.p, string.n, level);
	if (ZSTD_isError(n))
		return false;
	text->n += n;
	return true;
#else
	(void)text;
	(void)string;
	(void)level;
	return false;
#endif
}

struct gzip {
	z_stream z;
};

struct gzip *gzip_open(int level)
{
	struct gzip *gzip = mem_alloc(sizeof(*gzip), 1);

	if (deflateInit2(&gzip->z, level, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) == Z_OK)
		return gzip;
	free(gzip);
	return NULL;
}

void gzip_add(struct gzip *gzip, struct text *text, struct str string, bool last)
{
	z_stream *stream = &gzip->z;

	stream->next_in = (unsigned char *)(uintptr_t)string.p;
	stream->avail_in = (unsigned)string.n;
	do {
		text_reserve(text, PART);
		stream->next_out = (unsigned char *)text->p + text->n;
		stream->avail_out = (unsigned)(text->cap - text->n);
		deflate(stream, last ? Z_FINISH : Z_NO_FLUSH);
		text->n = text->cap - stream->avail_out;
	} while (stream->avail_out == 0);
	if (last)
		deflateReset(stream);
}

void gzip_close(struct gzip *gzip)
{
	if (!gzip)
		return;
	deflateEnd(&gzip->z);
	free(gzip);
}

/* ---- decompression --------------------------------------------------------------------------------------------- */

enum packing { PLAIN, GZIP, ZSTD };

struct unpack_state {
	enum packing packing;
	/* eof: read() reached the end of the file; open: the current gzip member or zstd frame is not complete yet */
	bool eof, open;
	/* true if inflateInit2 was called for `z` */
	bool gzip;
	z_stream z;
#ifdef PJ_ZSTD
	ZSTD_DStream *zstd;
#endif
	/* buffer of compressed bytes; at: index of the next byte in `in`; n: number of bytes in `in` */
	size_t at, n;
	char in[PART];
	/* for unpack_lines; line: decompressed bytes; given: number of bytes of `line` that the last call returned */
	struct text line;
	size_t given;
	bool end; /* true if no decompressed bytes follow those in `line` */
};

static void end_early(struct unpack *unpack, const char *why, int error)
{
	unpack->errors = why;
	unpack->error = error;
}

static bool pack_fill(struct unpack *unpack)
{
	struct unpack_state *state = unpack->state;
	ssize_t got;

	/* NOLINTNEXTLINE(clang-analyzer-core.*): a reader that is open has a state */
	if (state->at < state->n)
		return true;
	if (state->eof)
		return false;
	do
		got = read(unpack->fd, state->in, sizeof(state->in));
	while (got < 0 && errno == EINTR);
	if (got < 0)
		end_early(unpack, "it cannot be read", errno);
	state->eof = got <= 0;
	state->at = 0;
	state->n = got > 0 ? (size_t)got : 0;
	return got > 0;
}

static bool begin_gzip(struct unpack_state *state)
{
	if (state->gzip)
		return inflateReset(&state->z) == Z_OK;
	state->z = (z_stream){ 0 };
	state->gzip = inflateInit2(&state->z, 15 + 16) == Z_OK;
	return state->gzip;
}

const char *unpack_strerror(int error)
{
	if (error == ENOTSUP && !pack_has_zstd)
		return "it is compressed with zstd, which is not built in: install libzstd-dev and rebuild";
	return strerror(error);
}

static void begin_zstd(struct unpack *unpack)
{
#ifdef PJ_ZSTD
	struct unpack_state *state = unpack->state;

	if (!state->zstd)
		state->zstd = ZSTD_createDStream();
	if (!state->zstd || ZSTD_isError(ZSTD_initDStream(state->zstd)))
		end_early(unpack, "zstd is out of memory", ENOMEM);
#else
	end_early(unpack, unpack_strerror(ENOTSUP), ENOTSUP);
#endif
}

void unpack_open(struct unpack *unpack, int fd)
{
	*unpack = (struct unpack){ 0 };
	unpack_next(unpack, fd);
}

void unpack_next(struct unpack *unpack, int fd)
{
	struct unpack_state *state = unpack->state ? unpack->state : mem_alloc(sizeof(*state), 1);
	struct str head;

	*unpack = (struct unpack){ .fd = fd, .state = state };
	state->packing = PLAIN;
	state->eof = state->open = state->end = false;
	state->at = state->n = state->line.n = state->given = 0;
	if (!pack_fill(unpack))
		return;
	head = (struct str){ state->in, state->n };
	if (str_starts(head, STR("\x1F\x8B"))) {
		state->packing = GZIP;
		if (!begin_gzip(state))
			end_early(unpack, "zlib is out of memory", ENOMEM);
	} else if (str_starts(head, STR("\x28\xB5\x2F\xFD"))) {
		state->packing = ZSTD;
		begin_zstd(unpack);
	}
}

static size_t read_plain(struct unpack *unpack, char *buf, size_t n)
{
	struct unpack_state *state = unpack->state;

	if (!pack_fill(unpack))
		return 0;
	n = n < state->n - state->at ? n : state->n - state->at;
	memcpy(buf, state->in + state->at, n);
	state->at += n;
	return n;
}

/* Decompresses up to n bytes of a gzip file, which may consist of several gzip members, into buf. Returns the number of
 * these bytes; 0 at the end and on an error. */
static size_t pack_read_gzip(struct unpack *unpack, char *buf, size_t n)
{
	struct unpack_state *state = unpack->state;

	state->z.next_out = (unsigned char *)buf;
	state->z.avail_out = (unsigned)n;
	while (state->z.avail_out == n && !unpack->errors) {
		bool more = pack_fill(unpack);
		int status;

		if (!more && !state->open)
			break;
		state->z.next_in = (unsigned char *)state->in + state->at;
		state->z.avail_in = (unsigned)(state->n - state->at);
		status = inflate(&state->z, Z_NO_FLUSH);
		state->at = state->n - state->z.avail_in;
		state->open = status != Z_STREAM_END;
		if (status == Z_STREAM_END)
			inflateReset(&state->z);
		else if (status == Z_MEM_ERROR)
			end_early(unpack, "zlib is out of memory", ENOMEM);
		else if (status != Z_OK && status != Z_BUF_ERROR)
			unpack->errors = "gzip data is damaged";
		else if (!more && state->z.avail_out == n)
			unpack->errors = "gzip data ends in the middle";
	}
	return n - state->z.avail_out;
}

static size_t read_zstd(struct unpack *unpack, char *buf, size_t n)
{
#ifdef PJ_ZSTD
	struct unpack_state *state = unpack->state;
	ZSTD_outBuffer out = { buf, n, 0 };

	while (out.pos == 0 && !unpack->errors) {
		bool more = pack_fill(unpack);
		ZSTD_inBuffer in = { state->in + state->at, state->n - state->at, 0 };
		size_t status;

		if (!more && !state->open)
			break;
		status = ZSTD_decompressStream(state->zstd, &out, &in);
		state->at += in.pos;
		state->open = status != 0;
		if (ZSTD_isError(status) && ZSTD_getErrorCode(status) == ZSTD_error_memory_allocation)
			end_early(unpack, "zstd is out of memory", ENOMEM);
		else if (ZSTD_isError(status))
			unpack->errors = "zstd data is damaged";
		else if (!more && out.pos == 0 && state->open)
			unpack->errors = "zstd data ends in the middle";
	}
	return out.pos;
#else
	(void)unpack;
	(void)buf;
	(void)n;
	return 0;
#endif
}

size_t unpack_read(struct unpack *unpack, char *buf, size_t n)
{
	if (unpack->errors || n == 0)
		return 0;
	switch (unpack->state->packing) {
	case GZIP: return pack_read_gzip(unpack, buf, n);
	case ZSTD: return read_zstd(unpack, buf, n);
	default: return read_plain(unpack, buf, n);
	}
}

bool unpack_lines(struct unpack *unpack, struct str *lines)
{
	struct unpack_state *state = unpack->state;
	ptrdiff_t last = -1;

	if (state->given) {
		state->line.n -= state->given;
		memmove(state->line.p, state->line.p + state->given, state->line.n);
		state->given = 0;
	}
	while (!state->end && (state->line.n < LINES || last < 0)) {
		size_t n, before = state->line.n;

		text_reserve(&state->line, PART);
		n = unpack_read(unpack, state->line.p + state->line.n, PART);
		state->line.n += n;
		state->end = n == 0;
		if (last < 0 && n) {
			last = str_rfind((struct str){ state->line.p + before, n }, '\n');
			if (last < 0 && state->line.n > LINE_MAX_BYTES) {
				unpack->errors = "a line is longer than 64 MB";
				state->end = true;
			}
		}
	}
	last = str_rfind(text_view(&state->line), '\n');
	if (state->end && !unpack->errors && last + 1 < (ptrdiff_t)state->line.n)
		unpack->errors = "its last line is truncated";
	if (last < 0)
		return false;
	state->given = (size_t)last + 1;
	*lines = (struct str){ state->line.p, state->given };
	return true;
}

void unpack_close(struct unpack *unpack)
{
	struct unpack_state *state = unpack->state;

	if (!state)
		return;
	if (state->gzip)
		inflateEnd(&state->z);
#ifdef PJ_ZSTD
	ZSTD_freeDStream(state->zstd);
#endif
	text_free(&state->line);
	free(state);
	unpack->state = NULL;
}
