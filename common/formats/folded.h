/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded.h - parses a line of folded stacks, "a;b;c 42", the text format that all tools exchange (pj-folded(5)).
 *
 * The modules foldedhead, foldedread and foldedwrite parse the header and read and write texts. Together they read the
 * variants of all known tools, and write one form only.
 */
#ifndef PJ_FOLDED_H
#define PJ_FOLDED_H

#include "common/formats/foldedhead.h"
#include "common/formats/foldedread.h"
#include "common/formats/foldedwrite.h"
#include "common/str.h"

/* Splits a line into its stack and its weight. Sets *rounded to true if the weight had decimals or an exponent, so that
 * it was rounded; else to false. Returns NULL on success, or the reason why the line is no stack, a static text.
 * Pure. */
const char *folded_parse(struct str line, struct str *stack, uint64_t *weight, bool *rounded);

/* Removes the integer at the end of a stack and stores it in *number: in line "a;b 1 2", the stack is "a;b 1" and the
 * number is 1. Returns false, and leaves the stack unchanged, if it does not end in other text, a blank and an integer
 * of at most 63 bits. */
bool folded_cut_number(struct str *stack, uint64_t *number);

/* Returns the name of a frame without the suffix of its code kind (`_[k]`, `_[j]`, `_[i]`, `_[0]`, `_[1]`, `_[w]`). */
struct str folded_plain(struct str string);

#endif
