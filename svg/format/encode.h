/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encode.h - encodes the call tree in a few bytes for each frame: NAMES, TREE, SELF, PAUSE and VERDICT of docs/SVG.md.
 *
 * The output is the content of the data element: & < > in names are escaped here, and all other text needs no escapes.
 */
#ifndef PJ_ENCODE_H
#define PJ_ENCODE_H

#include "svg/layout/change.h"
#include "svg/layout/styles.h"
#include "common/text.h"

/* Appends a number as digits of base 44, least significant digit first. All sections have numbers in this form. */
void encode_number(struct text *text, uint64_t value);

/* Appends NAMES: the text and the colour of each style. */
void encode_names(struct text *text, const struct styles *styles);
/* Appends TREE: the frames of the layout in preorder, by the ids of their styles. */
void encode_tree(struct text *text, const struct layout *layout, const struct styles *styles);
/* Appends a column of self weights. self: layout->self or layout->before_self. */
void encode_self(struct text *text, const struct layout *layout, const uint64_t *self);
/* Appends the column layout->pause, which exists only if the layout is in the order of time. */
void encode_pauses(struct text *text, const struct layout *layout);

/* Appends the test results of all frames. assessed: an array of change->assessed. */
void encode_verdict(struct text *text, const struct layout *layout, const struct sig_change *assessed);

#endif
