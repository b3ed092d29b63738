/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linkattrs.h - titles and links that the user gives to functions, in the format of flamegraph.pl's --nameattr: lines
 * of `name TAB key=value TAB key=value`.
 *
 * Of the keys `title` and `href` are used. An address must be http, https or relative, without anything that browsers
 * read in more than one way; all others are refused by name. Texts are visible (visible_str).
 */
#ifndef PJ_LINKATTRS_H
#define PJ_LINKATTRS_H

#include "common/intern.h"

struct link_attr {
	struct str title, href; /* title and address of the link; each may be empty */
};

struct link_attrs {
	struct intern names;  /* names of functions, with or without suffix; visible text (visible.h) */
	struct link_attr *of; /* attributes of each name, by id in names */
	uint32_t cap;
	struct arena memory;
};

void link_attrs_read(struct link_attrs *attrs, const char *path);

/* Returns the attributes of a function, or NULL. text is the function's name without suffix, suffix that of its kind of
 * code (styles.h). A line for the name with suffix has precedence over a line for the name alone. */
const struct link_attr *link_attrs_find(const struct link_attrs *attrs, struct str text, struct str suffix);
void link_attrs_free(struct link_attrs *attrs);

bool link_attrs_is_safe_href(struct str href);

#endif
