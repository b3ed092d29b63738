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

void encode_names(struct text *t, const struct styles *n);
void encode_tree(struct text *t, const struct layout *l, const struct styles *n);
void encode_self(struct text *t, const struct layout *l, const uint64_t *self); /* a column of l */
void encode_pauses(struct text *t, const struct layout *l);                     /* in time */

/* judged: a column of struct change. */
void encode_verdict(struct text *t, const struct layout *l, const struct sig_change *assessed);

#endif
