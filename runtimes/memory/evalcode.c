/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/memory/evalcode.h"

#include "common/arena.h"
#include "runtimes/memory/fdetable.h"

#include <stdlib.h>

#define CANDIDATES_MAX 256u
#define SPARE 8u /* number of zero bytes after copied code: evalcode_jump reads 6 bytes from its last byte on */

struct evalsearch {
	struct loadedfile *file;
	struct evalcode *eval;
	struct fdetable table;
	unsigned char *code;  /* buffer for the code of a known range */
	unsigned char *other; /* buffer for the code of a candidate */
	uint32_t ncandidates;
	uint64_t tried[CANDIDATES_MAX]; /* start addresses of the candidates that were examined */
};

static bool read_code(struct evalsearch *search, const struct evalcode_range *range, unsigned char *to)
{
	size_t n = (size_t)(range->end - range->start);

	memset(to + n, 0, SPARE);
	return memory_bulk(search->file->m, range->start, to, n);
}

bool evalcode_jump(const unsigned char *code, uint64_t address, uint64_t *to)
{
	uint32_t opcode = code[0] == 0xe9 ? 1 : code[0] == 0x0f && (code[1] & 0xf0) == 0x80 ? 2 : 0;
	int32_t distance;

	if (opcode == 0)
		return false;
	memcpy(&distance, code + opcode, sizeof(distance));
	*to = address + opcode + sizeof(distance) + (uint64_t)(int64_t)distance;
	return true;
}

bool evalcode_holds(const struct evalcode *eval, uint64_t address)
{
	for (uint32_t i = 0; i < eval->n && i < EVALCODE_RANGES_MAX; i++)
		if (address >= eval->range[i].start && address < eval->range[i].end)
			return true;
	return false;
}

/* Returns true if the code of `range` jumps into a known range of the eval function, but not to the function's start.
 * Returns false, too, if the code is not readable or the budget is exceeded. */
static bool jumps_back(struct evalsearch *search, const struct evalcode_range *range)
{
	uint64_t n = range->end - range->start, to;

	/* One step for 32 bytes of code: a hostile table may have many large candidates. */
	if (!budget_steps(search->file->m->budget, n / 32) || !read_code(search, range, search->other))
		return false;
	for (uint64_t i = 0; i < n; i++)
		if (evalcode_jump(search->other + i, range->start + i, &to) && to != search->eval->range[0].start &&
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

/* Adds the moved parts to which the code of eval->range[which] jumps. */
static void follow_jumps(struct evalsearch *search, uint32_t which)
{
	struct evalcode *eval = search->eval;
	struct evalcode_range range = eval->range[which], other;
	uint64_t n = range.end - range.start, to;

	if (!read_code(search, &range, search->code))
		return;
	for (uint64_t i = 0; i < n && eval->n < EVALCODE_RANGES_MAX; i++) {
		if (!evalcode_jump(search->code + i, range.start + i, &to) || evalcode_holds(eval, to) ||
		    !fdetable_range(&search->table, to, &other.start, &other.end) || is_tried(search, other.start))
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
	if (!loadedfile_symbol_size(file, name, &start, &size) || size == 0 || size > FDETABLE_FUNCTION_MAX ||
	    start > UINT64_MAX - size)
		return false;
	eval->range[eval->n++] = (struct evalcode_range){ start, start + size };
	if (!fdetable_open(&search.table, file))
		return true;
	search.code = mem_grow(NULL, 1, FDETABLE_FUNCTION_MAX + SPARE);
	search.other = mem_grow(NULL, 1, FDETABLE_FUNCTION_MAX + SPARE);
	for (uint32_t i = 0; i < eval->n; i++)
		follow_jumps(&search, i);
	free(search.code);
	free(search.other);
	return true;
}
