/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linkattrs.h - titles and links that the user gives to functions, in the format of flamegraph.pl's --nameattr.
 *
 * A line has the form `name TAB key=value TAB key=value`. Only the keys `title` and `href` have an effect. An address
 * must be http, https or relative, and must not contain anything that browsers interpret differently; other addresses
 * are refused with a message. Strings are visible text (visible_str).
 */
#ifndef PJ_LINKATTRS_H
#define PJ_LINKATTRS_H

#include "common/intern.h"

struct link_attr {
	struct str title, href; /* title and address of the link; each may be empty */
};

struct link_attrs {
	struct intern names;  /* function names, with or without suffix; visible text (visible.h) */
	struct link_attr *of; /* attributes of each name, by id in `names` */
	uint32_t cap;
	struct arena memory;
};

/* Reads the file at `path` into *attrs, which the caller frees by link_attrs_free. Warns about refused lines; exits
 * with a message if the file cannot be read. */
void link_attrs_read(struct link_attrs *attrs, const char *path);

/* Returns the attributes of a function; NULL if it has none. text: its name without suffix; suffix: the suffix of its
 * code kind (styles.h). Attributes for the name with suffix have precedence over attributes for the name alone. */
const struct link_attr *link_attrs_find(const struct link_attrs *attrs, struct str text, struct str suffix);
void link_attrs_free(struct link_attrs *attrs);

/* Returns true if an address is http, https or relative, and every browser interprets it in the same way. */
bool link_attrs_is_safe_href(struct str href);

#endif
