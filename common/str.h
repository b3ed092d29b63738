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

/* Returns a str of a string literal. Also valid in initializers of static variables. */
#define STR(literal) ((struct str){ "" literal, sizeof(literal) - 1 })

/* Returns a str of a C string; of NULL the empty str. */
struct str str_of(const char *string);

static inline bool str_eq(struct str string, struct str other)
{
	return string.n == other.n && (string.n == 0 || memcmp(string.p, other.p, string.n) == 0);
}

int str_cmp(struct str string, struct str other); /* compares bytes; returns <0, 0 or >0; a prefix comes first */

size_t str_common(struct str string, struct str other); /* returns the number of bytes in which they begin alike */

bool str_starts(struct str string, struct str prefix);
bool str_ends(struct str string, struct str suffix);

static inline struct str str_from(struct str string,
				  size_t i) /* returns string without its first i bytes; i <= string.n */
{
	/* not p + i for i == 0, since NULL + 0 is undefined in C */
	return (struct str){ i ? string.p + i : string.p, string.n - i };
}

static inline struct str str_head(struct str string, size_t n) /* returns the first n bytes of string; n <= string.n */
{
	return (struct str){ string.p, n };
}

/* Return the position of the first (str_rfind: the last) such byte or substring, or -1. */
ptrdiff_t str_find(struct str string, char byte);
ptrdiff_t str_rfind(struct str string, char byte);
ptrdiff_t str_find_str(struct str string, struct str needle);

/* Returns the bytes before the first sep and removes them, and sep, from *string. Without sep it returns all, and
 * *string becomes empty. */
struct str str_cut(struct str *string, char sep);

static inline bool byte_is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static inline bool byte_is_hex(char byte)
{
	return byte_is_digit(byte) || ((byte | 32) >= 'a' && (byte | 32) <= 'f');
}

static inline bool byte_is_blank(char byte) /* true for space, tab and CR */
{
	return byte == ' ' || byte == '\t' || byte == '\r';
}

/* Return string without blanks at its start, at its end, or at both. */
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

static inline bool str_is_blank(struct str string) /* returns true if string is empty or has blanks only */
{
	return str_trim_left(string).n == 0;
}

/* Parse all of string as a number, decimal or hexadecimal, into *value. Return false for other text, or if the number
 * does not fit. */
bool str_u64(struct str string, uint64_t *value);
bool str_hex(struct str string, uint64_t *value); /* hexadecimal digits without 0x */

/* Returns true if string matches the shell pattern (* ? [a-z] [!a] \x), by bytes, without special rules for '/' or a
 * leading dot. The time is linear in pattern times text. */
bool str_glob(struct str pattern, struct str string);

#endif
