/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/timeline/frameinfo.h"

#include "common/arena.h"
#include "runtimes/hotspot/blobcodec.h"
#include "common/formats/jmapfile.h"

#include <stdlib.h>

#define CODE_MAX (4u << 20)  /* bytes of one piece */
#define AT_ONCE (256u << 10) /* bytes of many that are read by few calls: they stay in the processor's cache */
#define BATCH 256u

static void frameinfo_forget(struct frameinfo *f)
{
	f->none = f->read.n = f->compiled.n = f->others.n = 0;
	f->ncompiled = f->nothers = f->last_number = f->last_end = 0;
}

/* The first piece that does not begin before address. */
static size_t from_address(const struct javaunwind_code *c, uint64_t address)
{
	size_t low = 0, high = c->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->blob[middle].start < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Bytes of its code that say where a frame is made and left. */
static size_t code_bytes(const struct code_blob *p)
{
	size_t n = (size_t)(p->end - p->start);

	return n <= CODE_MAX && (p->kind == BLOB_COMPILED || p->kind == BLOB_NATIVE || p->kind == BLOB_STUB) ? n : 0;
}

static void frameinfo_put_facts(struct frameinfo *f, struct hotspot *h, const struct code_blob *p, struct text *to)
{
	size_t n = code_bytes(p);

	f->code.n = 0;
	if (!budget_steps(h->memory.budget, n / 16))
		n = 0;
	text_reserve(&f->code, n + 1);
	if (n && !memory_bulk(&h->memory, p->start, f->code.p, n))
		n = 0;
	blobcodec_encode(to, p, f->code.p, n);
}

/* Compiled code that is new: a call for each piece would cost more than all else here. */
struct batch {
	const struct code_blob *blob[BATCH];
	size_t n, bytes;
};

static void put_batch(struct frameinfo *f, struct hotspot *h, struct batch *b)
{
	struct memory_want want[BATCH];
	size_t nwant = 0, at = 0;
	bool read;

	for (size_t i = 0; i < b->n; at += code_bytes(b->blob[i++]))
		if (code_bytes(b->blob[i]))
			want[nwant++] = (struct memory_want){ b->blob[i]->start, (uint32_t)code_bytes(b->blob[i]),
							      (uint32_t)at };
	f->code.n = 0;
	text_reserve(&f->code, at + 1);
	read = budget_steps(h->memory.budget, at / 16) && memory_gather(&h->memory, want, nwant, f->code.p);
	at = 0;
	for (size_t i = 0; i < b->n; at += code_bytes(b->blob[i++])) {
		size_t before = f->read.n;

		blobcodec_encode(&f->read, b->blob[i], f->code.p + at, read ? code_bytes(b->blob[i]) : 0);
		f->one = mem_more(f->one, sizeof(*f->one), f->none);
		f->one[f->none++] = (struct frameinfo_one){ b->blob[i]->start, before, f->read.n - before };
	}
	b->n = b->bytes = 0;
}

void frameinfo_read(struct frameinfo *f, struct hotspot *h, const struct blob *fresh, size_t n)
{
	const struct javaunwind_code *c = &f->frames.code;
	struct batch b = { .n = 0 };

	f->none = f->read.n = 0;
	if (!f->opened)
		f->why = blobframes_open(&f->frames, h);
	f->opened = true;
	if (f->why || n == 0 || blobframes_take_some(&f->frames, h, fresh, n) != NULL)
		return;
	for (size_t i = 0; i < n; i++) {
		size_t at = from_address(c, fresh[i].begin);

		if (!fresh[i].compiled || at == c->n || c->blob[at].start != fresh[i].begin)
			continue;
		b.blob[b.n++] = &c->blob[at];
		b.bytes += code_bytes(&c->blob[at]);
		if (b.n == BATCH || b.bytes >= AT_ONCE)
			put_batch(f, h, &b);
	}
	put_batch(f, h, &b);
}

static const struct frameinfo_one *frameinfo_find(const struct frameinfo *f, uint64_t begin)
{
	size_t low = 0, high = f->none;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->one[middle].begin < begin)
			low = middle + 1;
		else
			high = middle;
	}
	return low < f->none && f->one[low].begin == begin ? &f->one[low] : NULL;
}

void frameinfo_compiled(struct frameinfo *f, const struct blob *b, uint64_t number)
{
	const struct frameinfo_one *one = frameinfo_find(f, b->begin);

	if (!one)
		return;
	jmap_number(&f->compiled, number - f->last_number);
	text_bytes(&f->compiled, f->read.p + one->from, one->n);
	f->last_number = number;
	f->ncompiled++;
}

void frameinfo_other(struct frameinfo *f, struct hotspot *h, const struct blob *b)
{
	const struct javaunwind_code *c = &f->frames.code;

	for (size_t i = from_address(c, b->begin); !f->why && i < c->n && c->blob[i].end <= b->end; i++) {
		const struct code_blob *p = &c->blob[i];

		jmap_signed(&f->others, (int64_t)(p->start - f->last_end));
		jmap_number(&f->others, p->end - p->start);
		frameinfo_put_facts(f, h, p, &f->others);
		f->last_end = p->end;
		f->nothers++;
	}
}

void frameinfo_interpreter(struct frameinfo *f, struct hotspot *h, const struct blob *b)
{
	/* it may have been complete only behind the look at what is new, which may have been other code */
	if (!f->why)
		blobframes_take_some(&f->frames, h, b, 1);
	frameinfo_other(f, h, b);
}

void frameinfo_end(struct frameinfo *f, struct text *file)
{
	struct text body = { 0 };

	if (f->ncompiled + f->nothers) {
		text_char(&body, JMAP_FRAMES);
		jmap_number(&body, f->frames.code.call_stub_return);
		jmap_number(&body, f->frames.code.continuation_return);
		jmap_number(&body, f->ncompiled);
		text_str(&body, text_view(&f->compiled));
		jmap_number(&body, f->nothers);
		text_str(&body, text_view(&f->others));
		jmap_frame(file, text_view(&body));
	}
	text_free(&body);
	frameinfo_forget(f);
	blobframes_rest(&f->frames);
	text_free(&f->code);
	text_free(&f->read);
	text_free(&f->compiled);
	text_free(&f->others);
}

size_t frameinfo_bytes(const struct frameinfo *f)
{
	return f->compiled.n + f->others.n;
}

void frameinfo_free(struct frameinfo *f)
{
	blobframes_free(&f->frames);
	free(f->one);
	text_free(&f->read);
	text_free(&f->compiled);
	text_free(&f->others);
	text_free(&f->code);
	*f = (struct frameinfo){ 0 };
}
