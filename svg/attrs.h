/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attrs.h - what users say about functions: flamegraph.pl's --nameattr, lines of `name TAB key=value TAB key=value`.
 *
 * Of the keys `title` and `href` are used. An address must be http, https or relative, without anything that browsers
 * read in more than one way; all others are refused by name. Texts are visible (visible_str).
 */
#ifndef PJ_ATTRS_H
#define PJ_ATTRS_H

#include "intern.h"

struct attr {
	struct str title, href; /* may be empty */
};

struct attrs {
	struct intern names; /* visible, with suffix or without */
	struct attr *of;     /* by id of names */
	uint32_t cap;
	struct arena memory;
};

void attrs_read(struct attrs *a, const char *path);

/* Of a function as faces.h has it; the name with its suffix goes first. NULL: nothing is said. */
const struct attr *attrs_find(const struct attrs *a, struct str text, struct str suffix);
void attrs_free(struct attrs *a);

bool attrs_is_safe_href(struct str href);

#endif
