/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visible.h - names of untrusted processes, made safe to show to people.
 *
 * Any bytes become valid UTF-8 in which everything that a terminal or XML forbids, that cannot be seen or that reorders
 * text stands as a visible escape: \x1b, \u202e, \U000e0001. It is done once, where bytes become text for eyes; folded
 * text keeps its bytes. A backslash that begins what looks like an escape is one itself, \x5c, so visible_bytes gives
 * the bytes back exactly.
 */
#ifndef PJ_VISIBLE_H
#define PJ_VISIBLE_H

#include "common/arena.h"
#include "common/text.h"

void visible_str(struct text *text, struct str string);
struct str visible_copy(struct arena *arena, struct str bytes);

/* Returns the length of the longest prefix of string that visible_str would leave as it is. */
size_t visible_plain_length(struct str string);

/* The inverse: appends the bytes that visible_str made `visible` of. What is no escape stays as it is, also in text
 * that visible_str never makes. */
void visible_bytes(struct text *text, struct str string);

/* The code point that starts string and its length in bytes; 0 when the first byte is not the start of a valid sequence
 * (truncated, overlong, surrogate, beyond U+10FFFF, empty). */
size_t visible_point(struct str string, uint32_t *code);

/* Code points beyond ASCII that must not reach a reader as they are. */
bool visible_hides(uint32_t code);

#endif
