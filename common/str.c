/* SPDX-License-Identifier: Apache-2.0 */
#include "str.h"

struct str str_of(const char *s)
{
	return s ? (struct str){ s, strlen(s) } : (struct str){ 0 };
}

int str_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n ? memcmp(a.p, b.p, n) : 0;

	return c ? c : (a.n > b.n) - (a.n < b.n);
}

bool str_starts(struct str s, struct str prefix)
{
	return s.n >= prefix.n && str_eq(str_head(s, prefix.n), prefix);
}

bool str_ends(struct str s, struct str suffix)
{
	return s.n >= suffix.n && str_eq(str_from(s, s.n - suffix.n), suffix);
}

ptrdiff_t str_find(struct str s, char c)
{
	const char *p = s.n ? memchr(s.p, c, s.n) : NULL;

	return p ? p - s.p : -1;
}

ptrdiff_t str_rfind(struct str s, char c)
{
	const char *p = s.n ? memrchr(s.p, c, s.n) : NULL;

	return p ? p - s.p : -1;
}

ptrdiff_t str_find_str(struct str s, struct str needle)
{
	const char *p;

	if (needle.n == 0)
		return 0;
	p = s.n ? memmem(s.p, s.n, needle.p, needle.n) : NULL;
	return p ? p - s.p : -1;
}

struct str str_cut(struct str *s, char sep)
{
	ptrdiff_t i = str_find(*s, sep);
	struct str head = *s;

	if (i < 0) {
		*s = str_from(*s, s->n);
		return head;
	}
	*s = str_from(*s, (size_t)i + 1);
	return str_head(head, (size_t)i);
}

bool str_u64(struct str s, uint64_t *value)
{
	uint64_t v = 0;
	size_t i = 0;

	if (s.n == 0)
		return false;
	for (; i < s.n && i < 19; i++) { /* 19 digits always fit */
		unsigned digit = (unsigned char)s.p[i] - (unsigned)'0';

		if (digit > 9)
			return false;
		v = v * 10 + digit;
	}
	for (; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v))
			return false;
	}
	*value = v;
	return true;
}

bool str_hex(struct str s, uint64_t *value)
{
	uint64_t v = 0;

	if (s.n == 0)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		unsigned digit;

		if (c >= '0' && c <= '9')
			digit = (unsigned)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			digit = (unsigned)((c | 32) - 'a') + 10;
		else
			return false;
		if (v >> 60)
			return false;
		v = v << 4 | digit;
	}
	*value = v;
	return true;
}

/* One pattern element at *i against c; moves *i behind it. A '[' without ']' is an ordinary character. */
static bool glob_one(struct str pattern, size_t *i, unsigned char c)
{
	unsigned char p = (unsigned char)pattern.p[(*i)++];
	ptrdiff_t close;
	bool negate, hit = false;
	size_t j, end;

	if (p == '?')
		return true;
	if (p == '\\' && *i < pattern.n)
		return (unsigned char)pattern.p[(*i)++] == c;
	if (p != '[')
		return p == c;
	j = *i;
	negate = j < pattern.n && (pattern.p[j] == '!' || pattern.p[j] == '^');
	j += negate;
	/* a ']' in first place is a member, not the end */
	close = j + 1 < pattern.n ? str_find(str_from(pattern, j + 1), ']') : -1;
	if (close < 0)
		return c == '[';
	end = j + 1 + (size_t)close;
	for (; j < end; j++) {
		unsigned char lo = (unsigned char)pattern.p[j], hi = lo;

		if (j + 2 < end && pattern.p[j + 1] == '-') {
			hi = (unsigned char)pattern.p[j + 2];
			j += 2;
		}
		hit = hit || (c >= lo && c <= hi);
	}
	*i = end + 1;
	return hit != negate;
}

bool str_glob(struct str pattern, struct str s)
{
	size_t i = 0, j = 0, star = SIZE_MAX, from = 0;

	while (j < s.n) {
		size_t next = i;

		if (i < pattern.n && pattern.p[i] == '*') {
			star = ++i;
			from = j;
		} else if (i < pattern.n && glob_one(pattern, &next, (unsigned char)s.p[j])) {
			i = next;
			j++;
		} else if (star != SIZE_MAX) {
			i = star; /* let the last star take one byte more */
			j = ++from;
		} else {
			return false;
		}
	}
	while (i < pattern.n && pattern.p[i] == '*')
		i++;
	return i == pattern.n;
}
