/* SPDX-License-Identifier: Apache-2.0 */
/*
 * str.h - borrowed bytes: a pointer and a length, no NUL, no ownership.
 *
 * Lines, symbols and names are passed as a struct str that points into memory of another owner. A caller that needs it
 * longer copies it (arena_copy) or interns it. {0} is the empty string. The functions process bytes, not characters:
 * they assume no encoding, and compare unsigned bytes.
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
struct str str_of(const char *string);

static inline bool str_eq(struct str string, struct str other)
{
	return string.n == other.n && (string.n == 0 || memcmp(string.p, other.p, string.n) == 0);
}

int str_cmp(struct str string, struct str other); /* <0, 0, >0 by bytes; a prefix comes first */

size_t str_common(struct str string, struct str other); /* number of bytes in which they begin alike */

bool str_starts(struct str string, struct str prefix);
bool str_ends(struct str string, struct str suffix);

static inline struct str str_from(struct str string,
				  size_t i) /* returns string without its first i bytes; i <= string.n */
{
	return (struct str){ i ? string.p + i : string.p, string.n - i }; /* NULL + 0 is undefined in C */
}

static inline struct str str_head(struct str string, size_t n) /* returns the first n bytes; n <= string.n */
{
	return (struct str){ string.p, n };
}

/* Return the position of the first (last) such byte or substring, or -1. */
ptrdiff_t str_find(struct str string, char byte);
ptrdiff_t str_rfind(struct str string, char byte);
ptrdiff_t str_find_str(struct str string, struct str needle);

/* Cuts and returns the head up to sep; the rest after sep stays in *string (empty without a sep). */
struct str str_cut(struct str *string, char sep);

static inline bool byte_is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static inline bool byte_is_hex(char byte)
{
	return byte_is_digit(byte) || ((byte | 32) >= 'a' && (byte | 32) <= 'f');
}

static inline bool byte_is_blank(char byte) /* space, tab, CR */
{
	return byte == ' ' || byte == '\t' || byte == '\r';
}

/* Return string without blanks at its start, at its end, at both. */
static inline struct str str_trim_left(struct str string)
{
	while (string.n && byte_is_blank(string.p[0]))
		string = str_from(string, 1);
	return string;
}

static inline struct str str_trim_right(struct str string)
{
	while (string.n && byte_is_blank(string.p[string.n - 1]))
		string.n--;
	return string;
}

static inline struct str str_trim(struct str string)
{
	return str_trim_left(str_trim_right(string));
}

static inline bool str_is_blank(struct str string) /* empty, or blanks only */
{
	return str_trim_left(string).n == 0;
}

/* Parse all of string as a number, decimal or hexadecimal. Return false for other text, or if the number does not fit.
 */
bool str_u64(struct str string, uint64_t *value);
bool str_hex(struct str string, uint64_t *value); /* without 0x */

/* Returns true if string matches the shell pattern (* ? [a-z] [!a] \x), by bytes, without special rules for '/' or a
 * leading dot. The time is linear in pattern times text. */
bool str_glob(struct str pattern, struct str string);

#endif
