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

/* ---- packing ------------------------------------------------------------------------------------------------- */

bool pack_gzip(struct text *t, struct str s, int level)
{
	z_stream z = { 0 };
	size_t before = t->n;
	int status = Z_OK;

	if (s.n > UINT32_MAX / 2 || deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	text_reserve(t, deflateBound(&z, s.n));
	z.next_in = (unsigned char *)(uintptr_t)s.p;
	z.avail_in = (unsigned)s.n;
	z.next_out = (unsigned char *)t->p + t->n;
	z.avail_out = (unsigned)(t->cap - t->n);
	status = deflate(&z, Z_FINISH);
	t->n += z.total_out;
	deflateEnd(&z);
	if (status != Z_STREAM_END)
		t->n = before;
	return status == Z_STREAM_END;
}

bool pack_zstd(struct text *t, struct str s, int level)
{
#ifdef PJ_ZSTD
	size_t n;

	text_reserve(t, ZSTD_compressBound(s.n));
	n = ZSTD_compress(t->p + t->n, t->cap - t->n, s.p, s.n, level);
	if (ZSTD_isError(n))
		return false;
	t->n += n;
	return true;
#else
	(void)t;
	(void)s;
	(void)level;
	return false;
#endif
}

struct gzip {
	z_stream z;
};

struct gzip *gzip_open(int level)
{
	struct gzip *g = mem_alloc(sizeof(*g), 1);

	if (deflateInit2(&g->z, level, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) == Z_OK)
		return g;
	free(g);
	return NULL;
}

void gzip_add(struct gzip *g, struct text *t, struct str s, bool last)
{
	z_stream *z = &g->z;

	z->next_in = (unsigned char *)(uintptr_t)s.p;
	z->avail_in = (unsigned)s.n;
	do {
		text_reserve(t, PART);
		z->next_out = (unsigned char *)t->p + t->n;
		z->avail_out = (unsigned)(t->cap - t->n);
		deflate(z, last ? Z_FINISH : Z_NO_FLUSH);
		t->n = t->cap - z->avail_out;
	} while (z->avail_out == 0);
	if (last)
		deflateReset(z);
}

void gzip_close(struct gzip *g)
{
	if (!g)
		return;
	deflateEnd(&g->z);
	free(g);
}

/* ---- unpacking ----------------------------------------------------------------------------------------------- */

enum packing { PLAIN, GZIP, ZSTD };

struct unpack_state {
	enum packing packing;
	bool eof, open; /* open: between the beginning and the end of a member */
	bool gzip;      /* z is there */
	z_stream z;
#ifdef PJ_ZSTD
	ZSTD_DStream *zstd;
#endif
	size_t at, n; /* of in, not yet used */
	char in[PART];
	struct text line; /* unpack_lines: what was read, and how much of it was handed out */
	size_t given;
	bool end;
};

static void end_early(struct unpack *u, const char *why, int error)
{
	u->errors = why;
	u->error = error;
}

static bool pack_fill(struct unpack *u)
{
	struct unpack_state *s = u->state;
	ssize_t n;

	if (s->at < s->n)
		return true;
	if (s->eof)
		return false;
	do
		n = read(u->fd, s->in, sizeof(s->in));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		end_early(u, "it cannot be read", errno);
	s->eof = n <= 0;
	s->at = 0;
	s->n = n > 0 ? (size_t)n : 0;
	return n > 0;
}

static bool begin_gzip(struct unpack_state *s)
{
	if (s->gzip)
		return inflateReset(&s->z) == Z_OK;
	s->z = (z_stream){ 0 };
	s->gzip = inflateInit2(&s->z, 15 + 16) == Z_OK;
	return s->gzip;
}

static void begin_zstd(struct unpack *u)
{
#ifdef PJ_ZSTD
	struct unpack_state *s = u->state;

	if (!s->zstd)
		s->zstd = ZSTD_createDStream();
	if (!s->zstd || ZSTD_isError(ZSTD_initDStream(s->zstd)))
		end_early(u, "zstd has no memory", ENOMEM);
#else
	end_early(u, "it is packed by zstd, which was not built in (libzstd-dev)", 0);
#endif
}

void unpack_open(struct unpack *u, int fd)
{
	*u = (struct unpack){ 0 };
	unpack_next(u, fd);
}

void unpack_next(struct unpack *u, int fd)
{
	struct unpack_state *s = u->state ? u->state : mem_alloc(sizeof(*s), 1);
	struct str head;

	*u = (struct unpack){ .fd = fd, .state = s };
	s->packing = PLAIN;
	s->eof = s->open = s->end = false;
	s->at = s->n = s->line.n = s->given = 0;
	if (!pack_fill(u))
		return;
	head = (struct str){ s->in, s->n };
	if (str_starts(head, STR("\x1F\x8B"))) {
		s->packing = GZIP;
		if (!begin_gzip(s))
			end_early(u, "zlib has no memory", ENOMEM);
	} else if (str_starts(head, STR("\x28\xB5\x2F\xFD"))) {
		s->packing = ZSTD;
		begin_zstd(u);
	}
}

static size_t read_plain(struct unpack *u, char *buf, size_t n)
{
	struct unpack_state *s = u->state;

	if (!pack_fill(u))
		return 0;
	n = n < s->n - s->at ? n : s->n - s->at;
	memcpy(buf, s->in + s->at, n);
	s->at += n;
	return n;
}

/* Members may follow each other. */
static size_t pack_read_gzip(struct unpack *u, char *buf, size_t n)
{
	struct unpack_state *s = u->state;

	s->z.next_out = (unsigned char *)buf;
	s->z.avail_out = (unsigned)n;
	while (s->z.avail_out == n && !u->errors) {
		bool more = pack_fill(u);
		int status;

		if (!more && !s->open)
			break;
		s->z.next_in = (unsigned char *)s->in + s->at;
		s->z.avail_in = (unsigned)(s->n - s->at);
		status = inflate(&s->z, Z_NO_FLUSH);
		s->at = s->n - s->z.avail_in;
		s->open = status != Z_STREAM_END;
		if (status == Z_STREAM_END)
			inflateReset(&s->z);
		else if (status == Z_MEM_ERROR)
			end_early(u, "zlib has no memory", ENOMEM);
		else if (status != Z_OK && status != Z_BUF_ERROR)
			u->errors = "gzip data is damaged";
		else if (!more && s->z.avail_out == n)
			u->errors = "gzip data ends in the middle";
	}
	return n - s->z.avail_out;
}

static size_t read_zstd(struct unpack *u, char *buf, size_t n)
{
#ifdef PJ_ZSTD
	struct unpack_state *s = u->state;
	ZSTD_outBuffer out = { buf, n, 0 };

	while (out.pos == 0 && !u->errors) {
		bool more = pack_fill(u);
		ZSTD_inBuffer in = { s->in + s->at, s->n - s->at, 0 };
		size_t status;

		if (!more && !s->open)
			break;
		status = ZSTD_decompressStream(s->zstd, &out, &in);
		s->at += in.pos;
		s->open = status != 0;
		if (ZSTD_isError(status) && ZSTD_getErrorCode(status) == ZSTD_error_memory_allocation)
			end_early(u, "zstd has no memory", ENOMEM);
		else if (ZSTD_isError(status))
			u->errors = "zstd data is damaged";
		else if (!more && out.pos == 0 && s->open)
			u->errors = "zstd data ends in the middle";
	}
	return out.pos;
#else
	(void)u;
	(void)buf;
	(void)n;
	return 0;
#endif
}

size_t unpack_read(struct unpack *u, char *buf, size_t n)
{
	if (u->errors || n == 0)
		return 0;
	switch (u->state->packing) {
	case GZIP: return pack_read_gzip(u, buf, n);
	case ZSTD: return read_zstd(u, buf, n);
	default: return read_plain(u, buf, n);
	}
}

bool unpack_lines(struct unpack *u, struct str *lines)
{
	struct unpack_state *s = u->state;
	ptrdiff_t last = -1;

	if (s->given) {
		s->line.n -= s->given;
		memmove(s->line.p, s->line.p + s->given, s->line.n);
		s->given = 0;
	}
	while (!s->end && (s->line.n < LINES || last < 0)) {
		size_t n, before = s->line.n;

		text_reserve(&s->line, PART);
		n = unpack_read(u, s->line.p + s->line.n, PART);
		s->line.n += n;
		s->end = n == 0;
		if (last < 0 && n) {
			last = str_rfind((struct str){ s->line.p + before, n }, '\n');
			if (last < 0 && s->line.n > LINE_MAX_BYTES) {
				u->errors = "a line is longer than 64 MB";
				s->end = true;
			}
		}
	}
	last = str_rfind(text_view(&s->line), '\n');
	if (s->end && !u->errors && last + 1 < (ptrdiff_t)s->line.n)
		u->errors = "its last line is cut";
	if (last < 0)
		return false;
	s->given = (size_t)last + 1;
	*lines = (struct str){ s->line.p, s->given };
	return true;
}

void unpack_close(struct unpack *u)
{
	struct unpack_state *s = u->state;

	if (!s)
		return;
	if (s->gzip)
		inflateEnd(&s->z);
#ifdef PJ_ZSTD
	ZSTD_freeDStream(s->zstd);
#endif
	text_free(&s->line);
	free(s);
	u->state = NULL;
}
