/* SPDX-License-Identifier: Apache-2.0 */
/*
 * str.h - a reference to bytes of another owner: a pointer and a length, without a NUL at the end.
 *
 * Lines, symbols and names are passed as a struct str. If a caller needs the bytes for longer than their owner keeps
 * them, it copies (arena_copy) or interns them. {0} is the empty string. The functions process bytes, not characters:
 * they assume no encoding, and compare bytes as unsigned numbers.
 */
#ifndef PJ_STR_H
#define PJ_STR_H

#include "common/base.h"

#include <string.h>

struct str {
	const char *p;
	size_t n;
};

/* Makes a str from a string literal. Also valid in initializers of static variables. */
#define STR(literal) ((struct str){ "" literal, sizeof(literal) - 1 })

/* Returns a str that refers to a C string; the empty str for NULL. */
struct str str_of(const char *string);

static inline bool str_eq(struct str string, struct str other)
{
	return string.n == other.n && (string.n == 0 || memcmp(string.p, other.p, string.n) == 0);
}

/* Compares two strings by bytes. Returns <0, 0 or >0; a prefix of a string comes before that string. */
int str_cmp(struct str string, struct str other);

size_t str_common(struct str string, struct str other); /* returns the length of the common prefix in bytes */

bool str_starts(struct str string, struct str prefix);
bool str_ends(struct str string, struct str suffix);

static inline struct str str_from(struct str string,
				  size_t i) /* returns string without its first i bytes; i <= string.n */
{
	/* p may be NULL, and NULL + 0 is undefined in C */
	return (struct str){ i ? string.p + i : string.p, string.n - i };
}

static inline struct str str_head(struct str string, size_t n) /* returns the first n bytes of string; n <= string.n */
{
	return (struct str){ string.p, n };
}

/* str_find and str_find_str return the offset of the first `byte` or `needle` in string, str_rfind the offset of the
 * last `byte`; -1 if string does not contain it. */
ptrdiff_t str_find(struct str string, char byte);
ptrdiff_t str_rfind(struct str string, char byte);
ptrdiff_t str_find_str(struct str string, struct str needle);

/* Returns the part of *string before the first sep, and removes this part and sep from *string. Without sep, it returns
 * all of *string, which becomes empty. */
struct str str_cut(struct str *string, char sep);

static inline bool byte_is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static inline bool byte_is_hex(char byte)
{
	return byte_is_digit(byte) || ((byte | 32) >= 'a' && (byte | 32) <= 'f');
}

static inline bool byte_is_blank(char byte) /* returns true for space, tab and CR */
{
	return byte == ' ' || byte == '\t' || byte == '\r';
}

/* Return string without the blanks at its start (str_trim_left), at its end (str_trim_right), or at both (str_trim). */
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

/* Parse all of string as a number, decimal (str_u64) or hexadecimal (str_hex), and set *value. Return false for other
 * text and for numbers above 64 bits; *value is then unchanged. */
bool str_u64(struct str string, uint64_t *value);
bool str_hex(struct str string, uint64_t *value); /* string has hexadecimal digits only, without 0x */

/* Parses the digits at the start of string as those after a decimal point: sets *value to 0.DIGITS * unit, rounded
 * down, and returns the number of digits. For "25 s" and unit 1,000,000,000, *value is 250,000,000 and the result is 2.
 * unit is a power of ten. */
size_t str_decimals(struct str string, uint64_t unit, uint64_t *value);

/* Returns true if string matches the shell pattern (* ? [a-z] [!a] \x). Compares bytes; '/' and a leading dot have no
 * special meaning. The time is at most proportional to the length of the pattern times that of string. */
bool str_glob(struct str pattern, struct str string);

#endif
