/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visible.h - converts untrusted bytes, such as names of processes, to text that is safe to show to people.
 *
 * The result is valid UTF-8. Characters that a terminal or XML forbids, that are invisible or that reorder text become
 * an escape: \x1b, \u202e, \U000e0001. The conversion happens once, where bytes become text for people; folded text has
 * the original bytes. A backslash that would begin an escape becomes \x5c, so visible_bytes can restore the original
 * bytes exactly.
 */
#ifndef PJ_VISIBLE_H
#define PJ_VISIBLE_H

#include "common/arena.h"
#include "common/text.h"

void visible_str(struct text *text, struct str string);
struct str visible_copy(struct arena *arena, struct str bytes);

/* Returns the longest prefix of text, at most n bytes, that does not end within a UTF-8 character. */
struct str visible_head(struct str text, size_t n);

/* Appends the visible text `string` to *text. If it is longer than n bytes, appends its start, an ellipsis and its end:
 * n bytes in all, or a few less, as characters are not split. The start gets two fifths of the bytes, the end three
 * fifths, because the ends of related names differ more often. n is 8 or more. */
void visible_middle(struct text *text, struct str string, size_t n);
/* Appends `bytes` as visible text, shortened to n bytes like visible_middle. Reads at most 2 * n bytes. */
void visible_short(struct text *text, struct str bytes, size_t n);

/* Returns the length of the longest ASCII prefix of string that visible_str would not change. */
size_t visible_plain_length(struct str string);

/* The inverse of visible_str: appends to text the bytes from which visible_str made string. Bytes of string that are no
 * escape are appended as they are, even if visible_str would not have made them. */
void visible_bytes(struct text *text, struct str string);

/* Decodes the UTF-8 character at the start of string: returns its length in bytes and sets *code to its code point.
 * Returns 0 if the character is invalid (truncated, overlong, surrogate, beyond U+10FFFF) or string is empty. */
size_t visible_point(struct str string, uint32_t *code);

/* Returns true for a code point beyond ASCII that must be escaped: control characters, invisible characters, characters
 * that reorder text, noncharacters. */
bool visible_hides(uint32_t code);

#endif
