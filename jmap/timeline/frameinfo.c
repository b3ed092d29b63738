/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/timeline/frameinfo.h"

#include "common/arena.h"
#include "runtimes/hotspot/blobcodec.h"
#include "common/formats/jmapfile.h"

#include <stdlib.h>

#define CODE_MAX (4u << 20) /* maximum size in bytes of a code blob whose instructions are read */
/* number of code bytes at which a batch is complete and is read; small enough for the processor's cache */
#define AT_ONCE (256u << 10)
/* maximum number of code blobs in a batch */
#define BATCH 256u

static void frameinfo_forget(struct frameinfo *frameinfo)
{
	frameinfo->none = frameinfo->read.n = frameinfo->compiled.n = frameinfo->others.n = 0;
	frameinfo->ncompiled = frameinfo->nothers = frameinfo->last_number = frameinfo->last_end = 0;
}

/* Returns the index of the first code blob that starts at or after `address`; jvm_code->n if there is none. */
static size_t from_address(const struct javaunwind_code *jvm_code, uint64_t address)
{
	size_t low = 0, high = jvm_code->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (jvm_code->blob[middle].start < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the number of code bytes that must be read to find where the code blob sets up and removes its frame; 0 for
 * a kind of blob that needs no code bytes, and for a blob of more than CODE_MAX bytes. */
static size_t code_bytes(const struct code_blob *blob)
{
	size_t n = (size_t)(blob->end - blob->start);

	return n <= CODE_MAX && (blob->kind == BLOB_COMPILED || blob->kind == BLOB_NATIVE || blob->kind == BLOB_STUB) ?
		       n :
		       0;
}

static void frameinfo_put_facts(struct frameinfo *frameinfo, struct hotspot *hotspot, const struct code_blob *blob,
				struct text *text)
{
	size_t n = code_bytes(blob);

	frameinfo->code.n = 0;
	if (!budget_steps(hotspot->memory.budget, n / 16))
		n = 0;
	text_reserve(&frameinfo->code, n + 1);
	if (n && !memory_bulk(&hotspot->memory, blob->start, frameinfo->code.p, n))
		n = 0;
	blobcodec_encode(text, blob, frameinfo->code.p, n);
}

/* New nmethods whose instructions are read by one system call: one call per nmethod would cost more than the rest of
 * the scan. */
struct batch {
	const struct code_blob *blob[BATCH];
	size_t n, bytes;
};

static void put_batch(struct frameinfo *frameinfo, struct hotspot *hotspot, struct batch *batch)
{
	struct memory_want want[BATCH];
	size_t nwant = 0, at = 0;
	bool read;

	for (size_t i = 0; i < batch->n; at += code_bytes(batch->blob[i++]))
		if (code_bytes(batch->blob[i]))
			want[nwant++] = (struct memory_want){ batch->blob[i]->start,
							      (uint32_t)code_bytes(batch->blob[i]), (uint32_t)at };
	frameinfo->code.n = 0;
	text_reserve(&frameinfo->code, at + 1);
	read = budget_steps(hotspot->memory.budget, at / 16) &&
	       memory_gather(&hotspot->memory, want, nwant, frameinfo->code.p);
	at = 0;
	for (size_t i = 0; i < batch->n; at += code_bytes(batch->blob[i++])) {
		size_t before = frameinfo->read.n;

		blobcodec_encode(&frameinfo->read, batch->blob[i], frameinfo->code.p + at,
				 read ? code_bytes(batch->blob[i]) : 0);
		frameinfo->one = mem_more(frameinfo->one, sizeof(*frameinfo->one), frameinfo->none);
		frameinfo->one[frameinfo->none++] =
			(struct frameinfo_one){ batch->blob[i]->start, before, frameinfo->read.n - before };
	}
	batch->n = batch->bytes = 0;
}

void frameinfo_read(struct frameinfo *frameinfo, struct hotspot *hotspot, const struct blob *fresh, size_t n)
{
	const struct javaunwind_code *jvm_code = &frameinfo->frames.code;
	struct batch batch = { .n = 0 };

	frameinfo->none = frameinfo->read.n = 0;
	if (!frameinfo->opened)
		frameinfo->why = blobframes_open(&frameinfo->frames, hotspot);
	frameinfo->opened = true;
	if (frameinfo->why || n == 0 || blobframes_take_some(&frameinfo->frames, hotspot, fresh, n) != NULL)
		return;
	for (size_t i = 0; i < n; i++) {
		size_t at = from_address(jvm_code, fresh[i].begin);

		if (!fresh[i].compiled || at == jvm_code->n || jvm_code->blob[at].start != fresh[i].begin)
			continue;
		batch.blob[batch.n++] = &jvm_code->blob[at];
		batch.bytes += code_bytes(&jvm_code->blob[at]);
		if (batch.n == BATCH || batch.bytes >= AT_ONCE)
			put_batch(frameinfo, hotspot, &batch);
	}
	put_batch(frameinfo, hotspot, &batch);
}

static const struct frameinfo_one *frameinfo_find(const struct frameinfo *frameinfo, uint64_t begin)
{
	size_t low = 0, high = frameinfo->none;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (frameinfo->one[middle].begin < begin)
			low = middle + 1;
		else
			high = middle;
	}
	return low < frameinfo->none && frameinfo->one[low].begin == begin ? &frameinfo->one[low] : NULL;
}

void frameinfo_compiled(struct frameinfo *frameinfo, const struct blob *blob, uint64_t number)
{
	const struct frameinfo_one *one = frameinfo_find(frameinfo, blob->begin);

	if (!one)
		return;
	jmap_number(&frameinfo->compiled, number - frameinfo->last_number);
	text_bytes(&frameinfo->compiled, frameinfo->read.p + one->from, one->n);
	frameinfo->last_number = number;
	frameinfo->ncompiled++;
}

void frameinfo_other(struct frameinfo *frameinfo, struct hotspot *hotspot, const struct blob *blob)
{
	const struct javaunwind_code *jvm_code = &frameinfo->frames.code;

	for (size_t i = from_address(jvm_code, blob->begin);
	     !frameinfo->why && i < jvm_code->n && jvm_code->blob[i].end <= blob->end; i++) {
		const struct code_blob *p = &jvm_code->blob[i];

		jmap_signed(&frameinfo->others, (int64_t)(p->start - frameinfo->last_end));
		jmap_number(&frameinfo->others, p->end - p->start);
		frameinfo_put_facts(frameinfo, hotspot, p, &frameinfo->others);
		frameinfo->last_end = p->end;
		frameinfo->nothers++;
	}
}

void frameinfo_interpreter(struct frameinfo *frameinfo, struct hotspot *hotspot, const struct blob *blob)
{
	/* Reads the interpreter's code blobs again: when frameinfo_read read them, the interpreter may have been
	 * incomplete. */
	if (!frameinfo->why)
		blobframes_take_some(&frameinfo->frames, hotspot, blob, 1);
	frameinfo_other(frameinfo, hotspot, blob);
}

void frameinfo_end(struct frameinfo *frameinfo, struct text *file)
{
	struct text body = { 0 };

	if (frameinfo->ncompiled + frameinfo->nothers) {
		text_char(&body, JMAP_FRAMES);
		jmap_number(&body, frameinfo->frames.code.call_stub_return);
		jmap_number(&body, frameinfo->frames.code.continuation_return);
		jmap_number(&body, frameinfo->ncompiled);
		text_str(&body, text_view(&frameinfo->compiled));
		jmap_number(&body, frameinfo->nothers);
		text_str(&body, text_view(&frameinfo->others));
		jmap_frame(file, text_view(&body));
	}
	text_free(&body);
	frameinfo_forget(frameinfo);
	blobframes_rest(&frameinfo->frames);
	text_free(&frameinfo->code);
	text_free(&frameinfo->read);
	text_free(&frameinfo->compiled);
	text_free(&frameinfo->others);
}

size_t frameinfo_bytes(const struct frameinfo *frameinfo)
{
	return frameinfo->compiled.n + frameinfo->others.n;
}

void frameinfo_free(struct frameinfo *frameinfo)
{
	blobframes_free(&frameinfo->frames);
	free(frameinfo->one);
	text_free(&frameinfo->read);
	text_free(&frameinfo->compiled);
	text_free(&frameinfo->others);
	text_free(&frameinfo->code);
	*frameinfo = (struct frameinfo){ 0 };
}
