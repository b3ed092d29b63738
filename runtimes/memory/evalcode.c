/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/memory/evalcode.h"

#include "common/arena.h"

#include <stdlib.h>

#define FUNCTION_MAX (1u << 20) /* limit for the size of a range: those of CPython have at most 100 kB */
#define TABLE_MAX (1u << 20)    /* limit for the number of FDEs */
#define CANDIDATES_MAX 256u
#define SPARE 8u /* readable bytes behind code, for a jump at its end */

/* Bytes of a jump: e9 rel32, or 0f 80..8f rel32. */
#define JMP_BYTES 5u
#define JCC_BYTES 6u

struct evalsearch {
	struct loadedfile *file;
	struct evalcode *eval;
	uint64_t header, table; /* addresses of .eh_frame_hdr and of its sorted table */
	uint32_t n;             /* number of FDEs */
	unsigned char *code;    /* code of one range */
	unsigned char *other;   /* code of a candidate */
	uint32_t ncandidates;
	uint64_t tried[CANDIDATES_MAX];
};

static int32_t signed_at(const unsigned char *bytes)
{
	int32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* .eh_frame_hdr: version 1; encodings: pointer to .eh_frame any of 4 bytes, count udata4, table datarel sdata4. */
static bool open_unwind_table(struct evalsearch *search)
{
	unsigned char head[12];
	uint64_t header = search->file->unwind;

	if (!header || !memory_read(search->file->m, header, head, sizeof(head)) || head[0] != 1 ||
	    (head[1] & 15) != 0x0b || head[2] != 0x03 || head[3] != 0x3b)
		return false;
	search->header = header;
	search->table = header + sizeof(head);
	search->n = (uint32_t)signed_at(head + 8);
	return search->n > 0 && search->n <= TABLE_MAX;
}

/* Sets *range to the range of the FDE that contains an address. */
static bool fde_range(struct evalsearch *search, uint64_t address, struct evalcode_range *range)
{
	uint32_t low = 0, high = search->n;
	unsigned char entry[8], fde[16];
	uint64_t at;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (!memory_read(search->file->m, search->table + (uint64_t)middle * 8, entry, sizeof(entry)))
			return false;
		if (search->header + (uint64_t)(int64_t)signed_at(entry) <= address)
			low = middle;
		else
			high = middle;
	}
	if (!memory_read(search->file->m, search->table + (uint64_t)low * 8, entry, sizeof(entry)))
		return false;
	range->start = search->header + (uint64_t)(int64_t)signed_at(entry);
	at = search->header + (uint64_t)(int64_t)signed_at(entry + 4);
	/* An FDE: length, CIE, start (relative to this field) and size of the range, 4 bytes each. */
	if (!memory_read(search->file->m, at, fde, sizeof(fde)) ||
	    at + 8 + (uint64_t)(int64_t)signed_at(fde + 8) != range->start)
		return false;
	range->end = range->start + (uint32_t)signed_at(fde + 12);
	return address >= range->start && address < range->end && range->end - range->start <= FUNCTION_MAX;
}

static bool read_code(struct evalsearch *search, const struct evalcode_range *range, unsigned char *to)
{
	size_t n = (size_t)(range->end - range->start);

	memset(to + n, 0, SPARE);
	return memory_bulk(search->file->m, range->start, to, n);
}

/* Returns the number of bytes of the jump at code[0], and sets *to to its target; 0: no jump. */
static unsigned jump_at(const unsigned char *code, uint64_t address, uint64_t *to)
{
	if (code[0] == 0xe9) {
		*to = address + JMP_BYTES + (uint64_t)(int64_t)signed_at(code + 1);
		return JMP_BYTES;
	}
	if (code[0] == 0x0f && (code[1] & 0xf0) == 0x80) {
		*to = address + JCC_BYTES + (uint64_t)(int64_t)signed_at(code + 2);
		return JCC_BYTES;
	}
	return 0;
}

bool evalcode_holds(const struct evalcode *eval, uint64_t address)
{
	for (uint32_t i = 0; i < eval->n && i < EVALCODE_RANGES_MAX; i++)
		if (address >= eval->range[i].start && address < eval->range[i].end)
			return true;
	return false;
}

/* Returns true if the code of a range jumps back into the inside of a known range. */
static bool jumps_back(struct evalsearch *search, const struct evalcode_range *range)
{
	uint64_t n = range->end - range->start, to;

	/* A step for 32 bytes of code: a hostile table may have many large candidates. */
	if (!budget_steps(search->file->m->budget, n / 32) || !read_code(search, range, search->other))
		return false;
	for (uint64_t i = 0; i < n; i++)
		if (jump_at(search->other + i, range->start + i, &to) && to != search->eval->range[0].start &&
		    evalcode_holds(search->eval, to))
			return true;
	return false;
}

static bool is_tried(struct evalsearch *search, uint64_t start)
{
	for (uint32_t i = 0; i < search->ncandidates; i++)
		if (search->tried[i] == start)
			return true;
	if (search->ncandidates < CANDIDATES_MAX)
		search->tried[search->ncandidates++] = start;
	return search->ncandidates == CANDIDATES_MAX;
}

/* Adds the ranges that the code of known range number `which` belongs together with. */
static void follow_jumps(struct evalsearch *search, uint32_t which)
{
	struct evalcode *eval = search->eval;
	struct evalcode_range range = eval->range[which], other;
	uint64_t n = range.end - range.start, to;

	if (!read_code(search, &range, search->code))
		return;
	for (uint64_t i = 0; i < n && eval->n < EVALCODE_RANGES_MAX; i++) {
		if (!jump_at(search->code + i, range.start + i, &to) || evalcode_holds(eval, to) ||
		    !fde_range(search, to, &other) || is_tried(search, other.start))
			continue;
		if (jumps_back(search, &other))
			eval->range[eval->n++] = other;
	}
}

bool evalcode_find(struct loadedfile *file, struct str name, struct evalcode *eval)
{
	struct evalsearch search = { .file = file, .eval = eval };
	uint64_t start, size;

	eval->n = 0;
	if (!loadedfile_symbol_size(file, name, &start, &size) || size == 0 || size > FUNCTION_MAX ||
	    start > UINT64_MAX - size)
		return false;
	eval->range[eval->n++] = (struct evalcode_range){ start, start + size };
	if (!open_unwind_table(&search))
		return true;
	search.code = mem_grow(NULL, 1, FUNCTION_MAX + SPARE);
	search.other = mem_grow(NULL, 1, FUNCTION_MAX + SPARE);
	for (uint32_t i = 0; i < eval->n; i++)
		follow_jumps(&search, i);
	free(search.code);
	free(search.other);
	return true;
}
