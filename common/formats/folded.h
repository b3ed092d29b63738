/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded.h - folded stacks, the text that all tools exchange: "a;b;c 42". pj-folded(5).
 *
 * This module parses one line; the header before the stacks, reading and writing are separate modules. All
 * of it reads what any tool writes, and writes one form.
 */
#ifndef PJ_FOLDED_H
#define PJ_FOLDED_H

#include "common/formats/foldedhead.h"
#include "common/formats/foldedread.h"
#include "common/formats/foldedwrite.h"
#include "common/str.h"

/* One line into stack and weight: returns NULL and sets *stack, *weight, *rounded (it had decimals); else a static
 * reason. Pure. */
const char *folded_parse(struct str line, struct str *stack, uint64_t *weight, bool *rounded);

/* A stack that itself ends in an integer, as in "a;b 1 2", loses it; else false, and nothing is changed. */
bool folded_cut_number(struct str *stack, uint64_t *number);

/* Returns the name without the suffix of its kind of code (`_[k]`, `_[j]`, `_[i]`, `_[0]`, `_[1]`, `_[w]`). */
struct str folded_plain(struct str string);

#endif
