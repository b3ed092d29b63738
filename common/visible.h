/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visible.h - names of untrusted processes, made safe to show to people.
 *
 * Any bytes become valid UTF-8 in which everything that a terminal or XML forbids, that cannot be seen or that reorders
 * text stands as a visible escape: \x1b, \u202e, \U000e0001. This is done once, where bytes become text for people;
 * folded text keeps its bytes. A backslash that would begin an escape becomes \x5c, so visible_bytes can restore the
 * bytes exactly.
 */
#ifndef PJ_VISIBLE_H
#define PJ_VISIBLE_H

#include "common/arena.h"
#include "common/text.h"

void visible_str(struct text *text, struct str string);
struct str visible_copy(struct arena *arena, struct str bytes);

/* Returns the first n bytes of visible text at most, cut between characters. */
struct str visible_head(struct str text, size_t n);

/* Returns the length of the longest prefix of string that visible_str would not change. */
size_t visible_plain_length(struct str string);

/* The inverse of visible_str: appends to text the bytes that string was made of. Text that is no escape is not changed,
 * also where visible_str would not have made it. */
void visible_bytes(struct text *text, struct str string);

/* Returns the number of bytes of the UTF-8 code point at the start of string and sets *code. Returns 0 if there is no
 * valid one (truncated, overlong, surrogate, beyond U+10FFFF, empty). */
size_t visible_point(struct str string, uint32_t *code);

/* Returns true for a code point beyond ASCII that must not be shown: control, invisible, reordering and
 * noncharacters. */
bool visible_hides(uint32_t code);

#endif
