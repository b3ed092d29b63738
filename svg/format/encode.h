/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encode.h - the whole tree as a few bytes a frame: NAMES, TREE, SELF, PAUSE and VERDICT of docs/SVG.md.
 *
 * The text needs no escaping but & < > in names, which is done here: what is appended is the content of the data
 * element.
 */
#ifndef PJ_ENCODE_H
#define PJ_ENCODE_H

#include "svg/layout/change.h"
#include "svg/layout/styles.h"
#include "common/text.h"

void encode_names(struct text *text, const struct styles *styles);
void encode_tree(struct text *text, const struct layout *layout, const struct styles *styles);
void encode_self(struct text *text, const struct layout *layout, const uint64_t *self); /* self: a column of layout */
void encode_pauses(struct text *text, const struct layout *layout);                     /* in time */

/* Appends the results of tests. judged: a column of struct change. */
void encode_verdict(struct text *text, const struct layout *layout, const struct sig_change *assessed);

#endif
