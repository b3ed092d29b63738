/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.h - the most telling part of a name that fits into so many characters.
 *
 * smart: the whole name; packages by their first letters; without packages (Java, Go), without parameters, template
 * arguments and outer namespaces (C++, Rust); the end of the class and the method; the method; its beginning. What is
 * missing inside or at an end shows as an ellipsis. Pure; names are valid UTF-8 (visible_str).
 */
#ifndef PJ_LABELS_H
#define PJ_LABELS_H

#include "common/text.h"

enum label_cut {
	LABEL_SMART,
	LABEL_LEFT, /* keep the end */
	LABEL_RIGHT /* keep the beginning */
};

#define LABEL_LEAST 3 /* fewer characters than this are not worth a label */

/* Returns the columns of string in a monospaced font: wide East Asian characters take two. */
size_t label_columns(struct str string);

/* Appends at most max columns; nothing when max < LABEL_LEAST. */
void label_fit(struct text *text, struct str name, size_t max, enum label_cut cut);

#endif
