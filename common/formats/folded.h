/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded.h - folded stacks, the text that all tools exchange: "a;b;c 42". pj-folded(5).
 *
 * This module parses one line; the header before the stacks, reading and writing are separate modules. Together they
 * read what any tool writes, and write one form only.
 */
#ifndef PJ_FOLDED_H
#define PJ_FOLDED_H

#include "common/formats/foldedhead.h"
#include "common/formats/foldedread.h"
#include "common/formats/foldedwrite.h"
#include "common/str.h"

/* Splits a line into its stack and weight; *rounded: the weight had decimals. Returns NULL, or a static text: why the
 * line is no stack. Pure. */
const char *folded_parse(struct str line, struct str *stack, uint64_t *weight, bool *rounded);

/* Removes the integer at the end of a stack, as of "a;b 1" from the line "a;b 1 2", and stores it in *number. Returns
 * false, and changes no stack, if there is none. */
bool folded_cut_number(struct str *stack, uint64_t *number);

/* Returns the name of a frame without the suffix for its kind of code (`_[k]`, `_[j]`, `_[i]`, `_[0]`, `_[1]`,
 * `_[w]`). */
struct str folded_plain(struct str string);

#endif
