/* SPDX-License-Identifier: Apache-2.0 */
#include "common/str.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

struct str str_of(const char *string)
{
	return string ? (struct str){ string, strlen(string) } : (struct str){ 0 };
}

int str_cmp(struct str string, struct str other)
{
	size_t n = string.n < other.n ? string.n : other.n;
	int c = n ? memcmp(string.p, other.p, n) : 0;

	return c ? c : (string.n > other.n) - (string.n < other.n);
}

#ifdef __SSE2__
static inline __m128i same_16(const char *a, const char *b)
{
	return _mm_cmpeq_epi8(_mm_loadu_si128((const void *)a), _mm_loadu_si128((const void *)b));
}

static inline uint64_t bits_16(__m128i same)
{
	return (uint64_t)_mm_movemask_epi8(same);
}

/* Returns the length of the common prefix of a and b, 64 bytes each. */
static inline size_t common_64(const char *a, const char *b)
{
	__m128i x = same_16(a, b), y = same_16(a + 16, b + 16), z = same_16(a + 32, b + 32),
		w = same_16(a + 48, b + 48);

	if (bits_16(_mm_and_si128(_mm_and_si128(x, y), _mm_and_si128(z, w))) == 0xffff)
		return 64;
	return (size_t)__builtin_ctzll(~(bits_16(x) | bits_16(y) << 16 | bits_16(z) << 32 | bits_16(w) << 48));
}
#else
static inline size_t common_64(const char *a, const char *b)
{
	size_t n = 0;

	while (n < 64 && a[n] == b[n])
		n++;
	return n;
}
#endif

size_t str_common(struct str string, struct str other)
{
	size_t max = string.n < other.n ? string.n : other.n, n = 0, more;

	if (max < 64) {
		while (n < max && string.p[n] == other.p[n])
			n++;
		return n;
	}
	for (; max - n >= 64; n += 64) {
		more = common_64(string.p + n, other.p + n);
		if (more < 64)
			return n + more;
	}
	/* fewer than 64 bytes are left: compares the last 64, which overlap bytes that are already known to be equal */
	return max - 64 + common_64(string.p + max - 64, other.p + max - 64);
}

bool str_starts(struct str string, struct str prefix)
{
	return string.n >= prefix.n && str_eq(str_head(string, prefix.n), prefix);
}

bool str_ends(struct str string, struct str suffix)
{
	return string.n >= suffix.n && str_eq(str_from(string, string.n - suffix.n), suffix);
}

ptrdiff_t str_find(struct str string, char byte)
{
	const char *p = string.n ? memchr(string.p, byte, string.n) : NULL;

	return p ? p - string.p : -1;
}

ptrdiff_t str_rfind(struct str string, char byte)
{
	const char *p = string.n ? memrchr(string.p, byte, string.n) : NULL;

	return p ? p - string.p : -1;
}

ptrdiff_t str_find_str(struct str string, struct str needle)
{
	const char *p;
	ptrdiff_t at;

	if (needle.n == 0)
		return 0;
	/* memmem prepares a table or compares byte by byte; most strings do not have the first byte of the needle */
	at = str_find(string, needle.p[0]);
	if (at < 0)
		return -1;
	p = memmem(string.p + at, string.n - (size_t)at, needle.p, needle.n);
	return p ? p - string.p : -1;
}

struct str str_cut(struct str *string, char sep)
{
	ptrdiff_t i = str_find(*string, sep);
	struct str head = *string;

	if (i < 0) {
		*string = str_from(*string, string->n);
		return head;
	}
	*string = str_from(*string, (size_t)i + 1);
	return str_head(head, (size_t)i);
}

bool str_u64(struct str string, uint64_t *value)
{
	uint64_t v = 0;
	size_t i = 0;

	if (string.n == 0)
		return false;
	for (; i < string.n && i < 19; i++) { /* a number of 19 digits cannot overflow */
		unsigned digit = (unsigned char)string.p[i] - (unsigned)'0';

		if (digit > 9)
			return false;
		v = v * 10 + digit;
	}
	for (; i < string.n; i++) {
		if (string.p[i] < '0' || string.p[i] > '9')
			return false;
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(string.p[i] - '0'), &v))
			return false;
	}
	*value = v;
	return true;
}

size_t str_decimals(struct str string, uint64_t unit, uint64_t *value)
{
	size_t n = 0;

	*value = 0;
	for (; n < string.n && string.p[n] >= '0' && string.p[n] <= '9'; n++) {
		unit /= 10;
		*value += unit * (uint64_t)(string.p[n] - '0');
	}
	return n;
}

bool str_hex(struct str string, uint64_t *value)
{
	uint64_t v = 0;

	if (string.n == 0)
		return false;
	for (size_t i = 0; i < string.n; i++) {
		char byte = string.p[i];
		unsigned digit;

		if (byte >= '0' && byte <= '9')
			digit = (unsigned)(byte - '0');
		else if ((byte | 32) >= 'a' && (byte | 32) <= 'f')
			digit = (unsigned)((byte | 32) - 'a') + 10;
		else
			return false;
		if (v >> 60)
			return false;
		v = v << 4 | digit;
	}
	*value = v;
	return true;
}

/* Returns true if the pattern element at *i, such as '?' or "[a-z]", matches byte. Moves *i past the element. A '['
 * without ']' is an ordinary character. */
static bool glob_one(struct str pattern, size_t *i, unsigned char byte)
{
	unsigned char p = (unsigned char)pattern.p[(*i)++];
	ptrdiff_t close;
	bool negate, hit = false;
	size_t second, end;

	if (p == '?')
		return true;
	if (p == '\\' && *i < pattern.n)
		return (unsigned char)pattern.p[(*i)++] == byte;
	if (p != '[')
		return p == byte;
	second = *i;
	negate = second < pattern.n && (pattern.p[second] == '!' || pattern.p[second] == '^');
	second += negate;
	/* a ']' right after the '[' is a member of the set, not its end */
	close = second + 1 < pattern.n ? str_find(str_from(pattern, second + 1), ']') : -1;
	if (close < 0)
		return byte == '[';
	end = second + 1 + (size_t)close;
	for (; second < end; second++) {
		unsigned char lo = (unsigned char)pattern.p[second], hi = lo;

		if (second + 2 < end && pattern.p[second + 1] == '-') {
			hi = (unsigned char)pattern.p[second + 2];
			second += 2;
		}
		hit = hit || (byte >= lo && byte <= hi);
	}
	*i = end + 1;
	return hit != negate;
}

bool str_glob(struct str pattern, struct str string)
{
	size_t i = 0, second = 0, star = SIZE_MAX, from = 0;

	while (second < string.n) {
		size_t next = i;

		if (i < pattern.n && pattern.p[i] == '*') {
			star = ++i;
			from = second;
		} else if (i < pattern.n && glob_one(pattern, &next, (unsigned char)string.p[second])) {
			i = next;
			second++;
		} else if (star != SIZE_MAX) {
			i = star; /* no match: the last star must match one byte more */
			second = ++from;
		} else {
			return false;
		}
	}
	while (i < pattern.n && pattern.p[i] == '*')
		i++;
	return i == pattern.n;
}
