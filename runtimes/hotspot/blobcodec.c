/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/blobcodec.h"

#include "common/formats/jmapfile.h"

enum { RUNS_MAX = 4096, AFTER_EPILOGUE = 24, AFTER_LEAVE = 16, AROUND_SUB = 10, AFTER_PROLOGUE = 16 };

/* ---- making ------------------------------------------------------------------------------------------------------ */

struct making {
	struct javaunwind_code c;
	const struct code_blob *p;
	const uint8_t *code;
	uint64_t n;
	uint64_t next;          /* the first offset that was not looked at */
	uint64_t prologue;      /* up to here an answer needs more than the bytes there */
	uint64_t from, to, end; /* the open run, [from, to); end of the one before */
	enum javaframe how;
	struct text runs;
	uint64_t nruns;
};

static bool read_copy(void *arg, uint64_t address, void *to, size_t n)
{
	const struct making *m = arg;
	uint64_t at = address - m->p->start;

	if (at > m->n || n > m->n - at)
		return false;
	memcpy(to, m->code + at, n);
	return true;
}

static void close_run(struct making *m)
{
	if (m->to == m->from || m->nruns == RUNS_MAX)
		return;
	jmap_number(&m->runs, m->from - m->end);
	jmap_number(&m->runs, (m->to - m->from - 1) << 2 | m->how);
	m->nruns++;
	m->end = m->to;
}

/* Nothing that javaframe.h knows begins with these bytes, and they are behind no pop rbp or leave: asking would cost 50
 * times this. */
static bool blobcodec_is_plain(const struct making *m, uint64_t at)
{
	const uint8_t *b = m->code + at;

	if (at == 0 || at + 3 > m->n || b[-1] == 0x5d || b[-1] == 0xc9)
		return false;
	switch (b[0]) {
	case 0x55:
	case 0x5d:
	case 0xc3:
	case 0xe9: return false;                 /* push rbp, pop rbp, ret, jmp */
	case 0x48: return (b[2] & 0x3f) != 0x2c; /* mov rbp, rsp; sub rsp, N; mov [rsp + N], rbp */
	case 0x0f: return (b[1] & 0xfd) != 0x85; /* ja, jne */
	case 0x41: return b[1] != 0x85;          /* test [r10], eax */
	case 0x4c: return b[1] != 0x8d;          /* lea r10, [poll] */
	case 0x4d: return b[1] != 0x89;          /* mov [r15 + N], r10 */
	default: return true;
	}
}

/* Looks at offsets [from, to), as far as nobody did. */
static void blobcodec_look(struct making *m, uint64_t from, uint64_t to)
{
	from = from > m->next ? from : m->next;
	to = to < m->n ? to : m->n;
	for (; from < to; m->next = ++from) {
		uint64_t address = m->p->start + from;
		enum javaframe how;

		if (from >= m->prologue && blobcodec_is_plain(m, from))
			continue;
		how = m->p->kind == BLOB_STUB ? javaframe_stub(&m->c, m->p, address) :
						javaframe_compiled(&m->c, m->p, address);
		if (how == JAVAFRAME_COMPLETE)
			continue;
		if (m->to != from || m->to == m->from || m->how != how) {
			close_run(m);
			m->from = from;
			m->how = how;
		}
		m->to = from + 1;
	}
}

static bool blobcodec_has(const struct making *m, uint64_t at, const char *bytes, size_t n)
{
	return at <= m->n && n <= m->n - at && memcmp(m->code + at, bytes, n) == 0;
}

/* The last of what makes or leaves a frame; one byte of a hundred is such. */
static const bool telling[256] = { [0x5d] = true, [0xc9] = true, [0xec] = true, [0x15] = true };

/* Around what a prologue or an epilogue has in it. */
static void look_around(struct making *m, uint64_t i)
{
	switch (m->code[i]) {
	case 0x5d: /* pop rbp */
	case 0xc9: /* leave */ blobcodec_look(m, i, i + (m->code[i] == 0x5d ? AFTER_EPILOGUE : AFTER_LEAVE)); break;
	case 0xec: /* sub rsp, N */
		if (i >= 2 && (blobcodec_has(m, i - 2, "\x48\x83", 2) || blobcodec_has(m, i - 2, "\x48\x81", 2)))
			blobcodec_look(m, i > AROUND_SUB ? i - AROUND_SUB : 0, i + AROUND_SUB);
		break;
	case 0x15: /* lea r10, [poll]; mov [r15 + N], r10; jmp */
		if (i >= 2 && blobcodec_has(m, i - 2, "\x4c\x8d", 2) && blobcodec_has(m, i + 5, "\x4d\x89\x97", 3))
			blobcodec_look(m, i - 2, i + 13);
		break;
	default: break;
	}
}

static void put_runs(struct text *to, const struct code_blob *p, const void *code, size_t n)
{
	struct making m = {
		.p = p, .code = code, .n = n < p->end - p->start ? n : p->end - p->start, .next = p->entry
	};

	m.c = (struct javaunwind_code){ .read = read_copy, .arg = &m };
	m.prologue = p->complete != BLOB_NEVER && p->complete > p->entry + 2 ? p->complete : (uint64_t)p->entry + 2;
	if (p->kind != BLOB_STUB)
		blobcodec_look(&m, p->entry, (p->complete != BLOB_NEVER ? p->complete : p->entry) + AFTER_PROLOGUE);
	for (uint64_t i = p->entry; i < m.n; i++)
		if (telling[m.code[i]])
			look_around(&m, i);
	close_run(&m);
	jmap_number(to, m.nruns);
	text_str(to, text_view(&m.runs));
	text_free(&m.runs);
}

static bool has_frame(const struct code_blob *p)
{
	return p->kind == BLOB_COMPILED || p->kind == BLOB_NATIVE || p->kind == BLOB_STUB;
}

static uint64_t offset_of(const struct code_blob *p, uint64_t address)
{
	return address ? address - p->start + 1 : 0;
}

void blobcodec_encode(struct text *to, const struct code_blob *p, const void *code, size_t n)
{
	jmap_number(to, p->kind);
	jmap_number(to, p->frame / 8);
	jmap_number(to, p->entry == BLOB_NEVER ? 0 : (uint64_t)p->entry + 1);
	jmap_number(to, p->complete == BLOB_NEVER ? 0 : (uint64_t)p->complete + 1);
	jmap_number(to, p->orig_pc);
	jmap_number(to, offset_of(p, p->deopt[0]));
	jmap_number(to, offset_of(p, p->deopt[1]));
	put_runs(to, p, code, has_frame(p) ? n : 0);
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

/* The next of *n runs of *s, which begin at *end. */
static bool next_run(struct str *s, uint64_t *end, uint64_t *from, enum javaframe *how)
{
	uint64_t delta, what;

	if (!jmap_get(s, &delta) || !jmap_get(s, &what) || delta > UINT32_MAX - *end)
		return false;
	*from = *end + delta;
	if ((what >> 2) >= UINT32_MAX - *from)
		return false;
	*end = *from + (what >> 2) + 1;
	*how = (enum javaframe)(what & 3);
	return true;
}

static bool take_runs(struct str *s, struct str *runs)
{
	struct str all = *s;
	uint64_t n, end = 0, from;
	enum javaframe how;

	if (!jmap_get(s, &n) || n > s->n / 2)
		return false;
	for (; n; n--)
		if (!next_run(s, &end, &from, &how))
			return false;
	*runs = str_head(all, all.n - s->n);
	return true;
}

bool blobcodec_decode(struct str *s, struct code_blob *p, struct str *runs)
{
	uint64_t v[7], size = p->end - p->start;

	for (size_t i = 0; i < countof(v); i++)
		if (!jmap_get(s, &v[i]) || v[i] > UINT32_MAX)
			return false;
	if (v[0] > BLOB_THAW || v[1] > UINT32_MAX / 8 || v[5] > size + 1 || v[6] > size + 1)
		return false;
	p->kind = (uint8_t)v[0];
	p->frame = (uint32_t)v[1] * 8;
	p->entry = v[2] ? (uint32_t)v[2] - 1 : BLOB_NEVER;
	p->complete = v[3] ? (uint32_t)v[3] - 1 : BLOB_NEVER;
	p->orig_pc = (uint32_t)v[4];
	for (unsigned i = 0; i < 2; i++)
		p->deopt[i] = v[5 + i] ? p->start + v[5 + i] - 1 : 0;
	return take_runs(s, runs);
}

enum javaframe blobcodec_how(struct str runs, uint64_t offset)
{
	uint64_t n, end = 0, from;
	enum javaframe how;

	if (!jmap_get(&runs, &n))
		return JAVAFRAME_COMPLETE;
	for (; n && next_run(&runs, &end, &from, &how) && from <= offset; n--)
		if (offset < end)
			return how;
	return JAVAFRAME_COMPLETE;
}
