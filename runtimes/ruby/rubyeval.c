/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/ruby/rubyeval.h"

#include "common/arena.h"
#include "runtimes/memory/evalcode.h"
#include "runtimes/memory/fdetable.h"
#include "runtimes/ruby/rubylayout.h"

#include <stdlib.h>

#define CORE_LEAST 8192u     /* minimum size of vm_exec_core in bytes; it has 17 kB in 3.1, 20 kB in 3.3 */
#define TEXT_MAX (64u << 20) /* maximum size of the code that is searched, in bytes */
#define CHUNK (1u << 20)     /* maximum size of one read of code, in bytes */
#define CANDIDATES_MAX 256u
#define SPARE 8u /* number of zero bytes after copied code: evalcode_jump reads 6 bytes from its last byte on */

#define CALL_BYTES 5u /* size of a call instruction: e8 rel32 */

struct evalsearch {
	struct ruby *ruby;
	struct fdetable table;
	unsigned char *code, *other; /* buffers of CHUNK + SPARE bytes each */
	uint32_t ntried;
	uint64_t tried[CANDIDATES_MAX];
};

static uint64_t target(const unsigned char *code, uint64_t next)
{
	int32_t value;

	memcpy(&value, code, sizeof(value));
	return next + (uint64_t)(int64_t)value;
}

/* Copies n bytes of code from `start`, followed by SPARE zero bytes. Takes a step of the budget for each 32 bytes.
 * Returns false if these bytes are not readable, n exceeds CHUNK or the budget is exceeded. */
static bool rubyeval_read(struct evalsearch *search, uint64_t start, uint64_t n, unsigned char *to)
{
	if (n > CHUNK || !budget_steps(search->ruby->memory->budget, n / 32))
		return false;
	memset(to + n, 0, SPARE);
	return memory_bulk(search->ruby->memory, start, to, (size_t)n);
}

/* Sets *caller to the only function that calls `callee`. Returns NULL, or the reason of a refusal. */
static const char *find_caller(struct evalsearch *search, uint64_t callee, struct ruby_range *caller)
{
	uint64_t start, end;

	*caller = (struct ruby_range){ 0, 0 };
	if (!fdetable_all(&search->table, &start, &end) || end - start > TEXT_MAX)
		return "its unwind table is not readable";
	for (; start < end; start += CHUNK - CALL_BYTES) {
		uint64_t n = end - start < CHUNK ? end - start : CHUNK;
		struct ruby_range found;

		if (!rubyeval_read(search, start, n, search->code))
			return "its code is not readable";
		for (uint64_t i = 0; i + CALL_BYTES <= n; i++) {
			if (search->code[i] != 0xe8 || target(search->code + i + 1, start + i + CALL_BYTES) != callee ||
			    !fdetable_range(&search->table, start + i, &found.start, &found.end))
				continue;
			if (caller->end && caller->start != found.start)
				return "several functions call its interpreter";
			*caller = found;
		}
	}
	return caller->end ? NULL : "no function calls its interpreter";
}

static bool rubyeval_in_ranges(const struct ruby_range *range, uint32_t n, uint64_t address)
{
	for (uint32_t i = 0; i < n; i++)
		if (address >= range[i].start && address < range[i].end)
			return true;
	return false;
}

static bool rubyeval_is_tried(struct evalsearch *search, uint64_t start)
{
	for (uint32_t i = 0; i < search->ntried; i++)
		if (search->tried[i] == start)
			return true;
	if (search->ntried < CANDIDATES_MAX)
		search->tried[search->ntried++] = start;
	return search->ntried == CANDIDATES_MAX;
}

/* Returns true if the code of `part` jumps into one of the n ranges of a function, other than to the function's
 * start. */
static bool rubyeval_jumps_back(struct evalsearch *search, const struct ruby_range *part,
				const struct ruby_range *range, uint32_t n)
{
	uint64_t bytes = part->end - part->start, to;

	if (!rubyeval_read(search, part->start, bytes, search->other))
		return false;
	for (uint64_t i = 0; i < bytes; i++)
		if (evalcode_jump(search->other + i, part->start + i, &to) && to != range[0].start &&
		    rubyeval_in_ranges(range, n, to))
			return true;
	return false;
}

/* Adds the parts of the function range[0] that the compiler put elsewhere: at most RUBY_RANGES_MAX ranges in all. */
static void add_parts(struct evalsearch *search, struct ruby_range *range, uint32_t *n)
{
	uint64_t bytes = range[0].end - range[0].start, to;
	struct ruby_range part;

	search->ntried = 0;
	*n = 1;
	if (!rubyeval_read(search, range[0].start, bytes, search->code))
		return;
	for (uint64_t i = 0; i < bytes && *n < RUBY_RANGES_MAX; i++) {
		if (!evalcode_jump(search->code + i, range[0].start + i, &to) || rubyeval_in_ranges(range, *n, to) ||
		    !fdetable_range(&search->table, to, &part.start, &part.end) ||
		    rubyeval_is_tried(search, part.start))
			continue;
		if (rubyeval_jumps_back(search, &part, range, *n))
			range[(*n)++] = part;
	}
}

static const char *find_ranges(struct evalsearch *search, uint64_t iseq)
{
	struct ruby *ruby = search->ruby;
	uint64_t body, code, handler;
	const char *why;

	if (!fdetable_open(&search->table, &ruby->file))
		return "it has no unwind table";
	if (!memory_pointer(ruby->memory, iseq + ISEQ_BODY, &body) || !rubylayout_is_address(body) ||
	    !memory_pointer(ruby->memory, body + BODY_CODE, &code) || !rubylayout_is_address(code) ||
	    !memory_pointer(ruby->memory, code, &handler) ||
	    !fdetable_range(&search->table, handler, &ruby->inner[0].start, &ruby->inner[0].end) ||
	    ruby->inner[0].end - ruby->inner[0].start < CORE_LEAST)
		return "its methods are not direct threaded code";
	why = find_caller(search, ruby->inner[0].start, &ruby->eval[0]);
	if (why)
		return why;
	if (ruby->eval[0].start == ruby->inner[0].start)
		return "its interpreter calls itself";
	add_parts(search, ruby->inner, &ruby->ninner);
	add_parts(search, ruby->eval, &ruby->neval);
	return NULL;
}

const char *rubyeval_find(struct ruby *ruby, uint64_t iseq)
{
	struct evalsearch search = { .ruby = ruby };
	const char *why;

	ruby->neval = ruby->ninner = 0;
	search.code = mem_grow(NULL, 1, CHUNK + SPARE);
	search.other = mem_grow(NULL, 1, CHUNK + SPARE);
	why = find_ranges(&search, iseq);
	free(search.code);
	free(search.other);
	return why;
}
