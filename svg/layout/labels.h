/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.h - shortens a name to its most informative part that fits into a number of columns.
 *
 * LABEL_SMART takes the first form that fits: the whole name; packages by their first letters; without packages (Java,
 * Go), or without parameters, template arguments and outer namespaces (C++, Rust); the end of the class and the method;
 * the method; the beginning of the method. LABEL_PYTHON leaves out the first parts of module.Class.method. An ellipsis
 * marks a part that is missing inside or at an end. Pure; names are valid UTF-8 (visible_str).
 */
#ifndef PJ_LABELS_H
#define PJ_LABELS_H

#include "common/text.h"

enum label_cut {
	LABEL_SMART,
	LABEL_PYTHON, /* as LABEL_SMART, for module.Class.method: without the first parts */
	LABEL_LEFT,   /* keep the end of the name */
	LABEL_RIGHT   /* keep the beginning of the name */
};

#define LABEL_LEAST 3 /* least number of columns of a label */

/* Returns the number of columns of string in a monospaced font: wide East Asian characters take two. */
size_t label_columns(struct str string);

/* Appends name, shortened to at most max columns; appends nothing if max < LABEL_LEAST. */
void label_fit(struct text *text, struct str name, size_t max, enum label_cut cut);

#endif
