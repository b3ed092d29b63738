/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.h - shortens a name to its most informative part that fits into a number of columns.
 *
 * LABEL_SMART takes the first of these forms that fits: the complete name; packages as initials; without packages
 * (Java, Go), or without parameters, template arguments and outer namespaces (C++, Rust); the end of the class and the
 * method; the method; the start of the method. LABEL_PYTHON omits the first parts of module.Class.method. An ellipsis
 * marks a part that is missing at an end of the name. The module does no input or output; names are valid UTF-8
 * (visible_str).
 */
#ifndef PJ_LABELS_H
#define PJ_LABELS_H

#include "common/text.h"

enum label_cut {
	LABEL_SMART,
	LABEL_PYTHON, /* like LABEL_SMART, for module.Class.method: omits the first parts */
	LABEL_LEFT,   /* keep the end of the name */
	LABEL_RIGHT   /* keep the start of the name */
};

#define LABEL_LEAST 3 /* minimum number of columns of a label */

/* Returns the number of columns of a string in a monospaced font; wide East Asian characters need two. */
size_t label_columns(struct str string);

/* Appends a name, shortened to at most max columns as `cut` selects. Appends nothing if max < LABEL_LEAST. */
void label_fit(struct text *text, struct str name, size_t max, enum label_cut cut);

#endif
