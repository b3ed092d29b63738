/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/script/suffixcache.h"

#include "common/arena.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

const char *suffixcache_end(const char *at, const char *end)
{
#ifdef __SSE2__
	const __m128i newline = _mm_set1_epi8('\n');

	/* compare 16 bytes, and the 16 bytes one further, with newlines: a match in both is "\n\n" */
	for (; end - at > 16; at += 16) {
		__m128i a = _mm_loadu_si128((const __m128i *)(const void *)at);
		__m128i b = _mm_loadu_si128((const __m128i *)(const void *)(at + 1));
		int hit = _mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(a, newline), _mm_cmpeq_epi8(b, newline)));

		if (hit)
			return at + __builtin_ctz((unsigned)hit) + 1;
	}
#endif
	for (; end - at > 1; at++)
		if (at[0] == '\n' && at[1] == '\n')
			return at + 1;
	return NULL;
}

/* Returns the number of equal bytes before a and before b, at most max. */
static size_t common_end(const char *a, const char *b, size_t max)
{
	size_t n = 0;

	while (n + 8 <= max) {
		uint64_t x, y;

		memcpy(&x, a - n - 8, 8);
		memcpy(&y, b - n - 8, 8);
		if (x != y)
			return n + (size_t)__builtin_clzll(x ^ y) / 8;
		n += 8;
	}
	while (n < max && a[-1 - (ptrdiff_t)n] == b[-1 - (ptrdiff_t)n])
		n++;
	return n;
}

uint32_t suffixcache_match(const struct suffixcache *suffixes, const struct suffix_sample *before, const char *at,
			   const char *end)
{
	const struct suffix_line *line;
	size_t max = (size_t)(end - at), theirs, same;
	uint32_t low = 0, high = before->n;

	if (before->n == 0)
		return 0;
	line = suffixes->line + before->first;
	theirs = (size_t)(before->end - line[0].start);
	same = common_end(end, before->end, max < theirs ? max : theirs);
	while (low < high) { /* find the first line of `before` that lies within the common end */
		uint32_t mid = low + (high - low) / 2;

		if ((size_t)(before->end - line[mid].start) <= same)
			high = mid;
		else
			low = mid + 1;
	}
	/* The common end must begin at the start of a line in the new text, too. */
	if (low < before->n) {
		const char *start = end - (before->end - line[low].start);

		if (start > at && start[-1] != '\n')
			low++;
	}
	return before->n - low;
}

void suffixcache_reserve(struct suffixcache *suffixes, uint32_t n)
{
	if (suffixes->cap - suffixes->n >= n)
		return;
	suffixes->cap = suffixes->cap * 2 + n;
	suffixes->line = mem_grow(suffixes->line, sizeof(*suffixes->line), suffixes->cap);
}
