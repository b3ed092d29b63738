/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/script/suffixcache.h"

#include "common/arena.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#ifdef __SSE2__
static inline uint64_t newlines_16(const char *at)
{
	__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);

	return (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')));
}

/* Returns a mask of the newlines in the 64 bytes at `at`: bit i is set if byte i is a newline. */
static inline uint64_t newlines_64(const char *at)
{
	return newlines_16(at) | newlines_16(at + 16) << 16 | newlines_16(at + 32) << 32 | newlines_16(at + 48) << 48;
}

/* Returns the number of equal bytes at the end of two blocks: the 16 bytes before a, and the 16 bytes before b. */
static inline size_t common_end_16(const char *a, const char *b)
{
	__m128i x = _mm_loadu_si128((const __m128i *)(const void *)(a - 16));
	__m128i y = _mm_loadu_si128((const __m128i *)(const void *)(b - 16));
	unsigned differ = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, y)) ^ 0xffff;

	return differ ? (size_t)__builtin_clz(differ << 16) : 16;
}
#endif

const char *suffixcache_end(const char *at, const char *end)
{
#ifdef __SSE2__
	uint64_t carry = 0; /* 1 if the byte before `at` is a newline */

	for (; end - at >= 64; at += 64) {
		uint64_t newlines = newlines_64(at), hit = newlines & (newlines << 1 | carry);

		if (hit)
			return at + __builtin_ctzll(hit);
		carry = newlines >> 63;
	}
	if (carry)
		at--;
#endif
	for (; end - at > 1; at++)
		if (at[0] == '\n' && at[1] == '\n')
			return at + 1;
	return NULL;
}

/* Returns the number of bytes before a that equal the bytes before b, at most max. */
static size_t common_end(const char *a, const char *b, size_t max)
{
	size_t n = 0;

#ifdef __SSE2__
	while (n + 16 <= max) {
		size_t more = common_end_16(a - n, b - n);

		n += more;
		if (more < 16)
			return n;
	}
#endif
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
	/* The common end must begin at the start of a line in the new text, too; otherwise this line is not shared. */
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
