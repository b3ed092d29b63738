/* SPDX-License-Identifier: Apache-2.0 */
/*
 * str.h - borrowed bytes: a pointer and a length, no NUL, no ownership.
 *
 * Everything that is read (lines, symbols, names) travels as a struct str that points into somebody else's memory; who
 * keeps it longer copies it (arena_copy) or interns it. {0} is the empty string. Bytes, not characters: nothing here
 * knows an encoding, and comparison is by unsigned byte.
 */
#ifndef PJ_STR_H
#define PJ_STR_H

#include "common/base.h"

#include <string.h>

struct str {
	const char *p;
	size_t n;
};

/* A str of a string literal; in initialisers too. */
#define STR(literal) ((struct str){ "" literal, sizeof(literal) - 1 })

/* A str of a C string; NULL gives the empty one. */
struct str str_of(const char *s);

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

int str_cmp(struct str a, struct str b); /* <0, 0, >0 by bytes; a prefix comes first */

size_t str_common(struct str a, struct str b); /* how many bytes they begin with alike */

bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);

static inline struct str str_from(struct str s, size_t i) /* without its first i bytes; i <= s.n */
{
	return (struct str){ i ? s.p + i : s.p, s.n - i }; /* NULL + 0 is undefined in C */
}

static inline struct str str_head(struct str s, size_t n) /* its first n bytes; n <= s.n */
{
	return (struct str){ s.p, n };
}

/* Position of the first (last) such byte or substring, or -1. */
ptrdiff_t str_find(struct str s, char c);
ptrdiff_t str_rfind(struct str s, char c);
ptrdiff_t str_find_str(struct str s, struct str needle);

/* Head up to sep; the rest behind sep stays in *s (empty when there was no sep). */
struct str str_cut(struct str *s, char sep);

static inline bool byte_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool byte_is_hex(char c)
{
	return byte_is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

static inline bool byte_is_blank(char c) /* space, tab, CR */
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Without blanks at the start, the end, both. */
static inline struct str str_trim_left(struct str s)
{
	while (s.n && byte_is_blank(s.p[0]))
		s = str_from(s, 1);
	return s;
}

static inline struct str str_trim_right(struct str s)
{
	while (s.n && byte_is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

static inline struct str str_trim(struct str s)
{
	return str_trim_left(str_trim_right(s));
}

static inline bool str_is_blank(struct str s) /* empty, or blanks only */
{
	return str_trim_left(s).n == 0;
}

/* The whole of s as a number; false when it is anything else or does not fit. */
bool str_u64(struct str s, uint64_t *value);
bool str_hex(struct str s, uint64_t *value); /* no 0x */

/* Does s match the shell pattern (* ? [a-z] [!a] \x)? Bytes, no special rule for '/' or a leading dot; linear in
 * pattern times text. */
bool str_glob(struct str pattern, struct str s);

#endif
