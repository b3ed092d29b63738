/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encode.h - encodes the call tree in a few bytes for each frame: NAMES, TREE, SELF, PAUSE and VERDICT of docs/SVG.md.
 *
 * The text needs no escaping but & < > in names, which is done here: what is appended is the content of the data
 * element.
 */
#ifndef PJ_ENCODE_H
#define PJ_ENCODE_H

#include "svg/layout/change.h"
#include "svg/layout/styles.h"
#include "common/text.h"

/* Appends a number in the form of all sections: digits of base 44, the least significant first. */
void encode_number(struct text *text, uint64_t value);

void encode_names(struct text *text, const struct styles *styles);
void encode_tree(struct text *text, const struct layout *layout, const struct styles *styles);
/* Appends a column of self weights: layout->self or layout->before_self. */
void encode_self(struct text *text, const struct layout *layout, const uint64_t *self);
/* Appends layout->pause, which only a layout in time has. */
void encode_pauses(struct text *text, const struct layout *layout);

/* Appends the test results of all frames, one of change->assessed. */
void encode_verdict(struct text *text, const struct layout *layout, const struct sig_change *assessed);

#endif
