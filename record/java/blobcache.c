/* SPDX-License-Identifier: Apache-2.0 */
#include "record/java/blobcache.h"

#include "common/arena.h"

#include <string.h>

/* Returns the first of the WAYS cache lines (jvm->line) that may hold the line with this number (address / LINE). */
static struct line *blobcache_line_set(const struct javacode_jvm *jvm, uint64_t number)
{
	return &jvm->line[(number ^ number >> 8) % (LINES / WAYS) * WAYS];
}

const struct line *blobcache_line(const struct javacode_jvm *jvm, uint64_t number)
{
	const struct line *line = jvm->line ? blobcache_line_set(jvm, number) : NULL;

	for (unsigned i = 0; line && i < WAYS; i++)
		if (line[i].number == number + 1)
			return &line[i];
	return NULL;
}

void blobcache_forget_lines(struct javacode_jvm *jvm, uint64_t begin, uint64_t end)
{
	for (size_t i = 0; jvm->line && i < LINES; i++) {
		uint64_t from = (jvm->line[i].number - 1) * LINE;

		if (jvm->line[i].number && from < end && from + LINE > begin)
			jvm->line[i].number = 0;
	}
}

void blobcache_publish(struct javacode_jvm *jvm)
{
	jvm->code.blob = jvm->blob;
	jvm->code.n = jvm->n;
}

void blobcache_move(struct javacode_jvm *jvm, size_t to, size_t from)
{
	memmove(jvm->blob + to, jvm->blob + from, (jvm->n - from) * sizeof(*jvm->blob));
	memmove(jvm->fact + to, jvm->fact + from, (jvm->n - from) * sizeof(*jvm->fact));
	jvm->n = jvm->n + to - from;
}

void blobcache_forget_before(struct javacode_jvm *jvm, uint64_t since)
{
	size_t retained = 0;

	for (size_t i = 0; i < jvm->n; i++) {
		if (jvm->fact[i].used < since)
			continue;
		jvm->blob[retained] = jvm->blob[i];
		jvm->fact[retained++] = jvm->fact[i];
	}
	jvm->n = retained;
	blobcache_publish(jvm);
}

size_t blobcache_first_after(const struct javacode_jvm *jvm, uint64_t address)
{
	size_t low = 0, high = jvm->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (jvm->blob[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool blobcache_insert(struct javacode_jvm *jvm, const struct javaunwind_code *code, const struct blob *blob,
		      uint64_t now)
{
	uint64_t begin = code->blob[0].start, end = code->blob[code->n - 1].end;
	size_t at, after;

	for (size_t i = 1; i < code->n; i++)
		/* the JVM changed the code while it was read: the blobs are inconsistent */
		if (code->blob[i].start < code->blob[i - 1].end)
			return false;
	if (jvm->n + code->n > BLOBS_MAX)
		blobcache_forget_before(jvm, now);
	if (jvm->n + code->n > BLOBS_MAX)
		return false;
	if (!javabudget_make_space(jvm, jvm->n + code->n))
		return false;
	at = blobcache_first_after(jvm, begin);
	for (after = at; after < jvm->n && jvm->blob[after].start < end; after++)
		jvm->freed = now;
	blobcache_move(jvm, at + code->n, after);
	for (size_t i = 0; i < code->n; i++) {
		jvm->blob[at + i] = code->blob[i];
		jvm->fact[at + i] = (struct fact){ *blob, now, now, now, 0 };
	}
	blobcache_forget_lines(jvm, begin, end);
	blobcache_publish(jvm);
	return true;
}

void blobcache_store_line(struct javacode_jvm *jvm, uint64_t number, const char *bytes)
{
	struct line *line;
	unsigned way = jvm->turn++ % WAYS;

	if (!jvm->line && !javabudget_hold(jvm, LINES * sizeof(*jvm->line)))
		return;
	if (!jvm->line)
		jvm->line = mem_alloc(sizeof(*jvm->line), LINES);
	line = blobcache_line_set(jvm, number);
	for (unsigned i = 0; i < WAYS; i++)
		if (line[i].number == 0 || line[i].number == number + 1)
			way = i;
	if (!line[way].byte && !javabudget_hold(jvm, LINE))
		return;
	if (!line[way].byte)
		line[way].byte = mem_grow(NULL, 1, LINE);
	line[way].number = number + 1;
	memcpy(line[way].byte, bytes, LINE);
}
