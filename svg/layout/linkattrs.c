/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/layout/linkattrs.h"

#include "common/filter/in.h"
#include "common/visible.h"

#include <stdlib.h>

struct reader {
	struct link_attrs *attrs;
	struct in in;
	uint64_t bad; /* number of refused lines, attributes and addresses */
	/* true after the first message about an attribute with an unknown key; further ones cause no message */
	bool reported;
};

/* ---- check of link addresses -------------------------------------------------------------------------------- */

static bool starts_in_any_case(struct str string, const char *lower)
{
	size_t n = strlen(lower);

	if (string.n < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		if ((string.p[i] >= 'A' && string.p[i] <= 'Z' ? string.p[i] | 32 : string.p[i]) != lower[i])
			return false;
	}
	return true;
}

/* Browsers drop blanks and control characters, and treat a backslash as a slash, so addresses with these are refused. A
 * relative address must not have a colon before its first / ? #, where it would end a scheme, and must not start with
 * //, since a server's name follows it. */
bool link_attrs_is_safe_href(struct str href)
{
	uint32_t code;

	for (struct str string = href; string.n;) {
		size_t n = visible_point(string, &code);
		if (n == 0 || code <= 0x20 || code == 0x7f || code == '\\')
			return false;
		string = str_from(string, n);
	}
	if (starts_in_any_case(href, "http://") || starts_in_any_case(href, "https://"))
		return true;
	for (size_t i = 0; i < href.n && !strchr("/?#", href.p[i]); i++) {
		if (href.p[i] == ':')
			return false;
	}
	return !str_starts(href, STR("//"));
}

/* ---- reading of the attributes ------------------------------------------------------------------------------ */

static void linkattrs_refuse(struct reader *reader, const char *why, struct str what)
{
	if (reader->bad++ < 3)
		warn_at(in_place(&reader->in), "%s%.*s", why, (int)(what.n < 200 ? what.n : 200), what.p ? what.p : "");
}

static struct str without_quotes(struct str string)
{
	return string.n >= 2 && string.p[0] == '"' && string.p[string.n - 1] == '"' ?
		       str_head(str_from(string, 1), string.n - 2) :
		       string;
}

static void set_href(struct reader *reader, struct link_attr *attr, struct str value)
{
	struct str seen = visible_copy(&reader->attrs->memory, value);

	if (link_attrs_is_safe_href(value) && str_eq(seen, value))
		attr->href = seen;
	else
		linkattrs_refuse(reader, "not an address of http, https or a relative one: ", value);
}

static void set_key(struct reader *reader, struct link_attr *attr, struct str key, struct str value)
{
	if (str_eq(key, STR("title"))) {
		attr->title = visible_copy(&reader->attrs->memory, value);
	} else if (str_eq(key, STR("href"))) {
		set_href(reader, attr, value);
		/* "target" is ignored without a message: the viewer's user decides where a link opens */
	} else if (!str_eq(key, STR("target")) && !reader->reported) {
		warn_at(in_place(&reader->in), "'%.*s' has no effect: use title or href",
			(int)(key.n < 200 ? key.n : 200), key.p);
		reader->reported = true;
	}
}

/* Stores the attributes of a name. If several lines have the same name, the attributes of the last line are used. */
static void linkattrs_keep(struct link_attrs *attrs, struct str name, struct link_attr attr)
{
	uint32_t id = intern(&attrs->names, visible_copy(&attrs->memory, name));

	if (id >= attrs->cap) {
		attrs->cap = id * 2 + 64;
		attrs->of = mem_grow(attrs->of, sizeof(*attrs->of), attrs->cap);
	}
	attrs->of[id] = attr;
}

static void linkattrs_read_line(struct reader *reader, struct str line)
{
	struct str rest = line, name = str_cut(&rest, '\t');
	struct link_attr attr = { 0 };

	if (name.n == line.n) {
		linkattrs_refuse(reader, "not a name with attributes: no tab after the name", (struct str){ 0 });
		return;
	}
	while (rest.n) {
		struct str value = str_cut(&rest, '\t'), complete = value, key = str_cut(&value, '=');
		if (key.n == complete.n)
			linkattrs_refuse(reader, "not an attribute, key=value: ", complete);
		else
			set_key(reader, &attr, key, without_quotes(value));
	}
	linkattrs_keep(reader->attrs, name, attr);
}

void link_attrs_read(struct link_attrs *attrs, const char *path)
{
	struct reader reader = { .attrs = attrs };
	struct str line;

	*attrs = (struct link_attrs){ 0 };
	in_open(&reader.in, path);
	in_expect_text(&reader.in);
	while (in_line(&reader.in, &line)) {
		line = str_trim_right(line);
		if (line.n)
			linkattrs_read_line(&reader, line);
	}
	if (reader.in.errors)
		die_at(in_place(&reader.in), "%s", reader.in.errors);
	if (reader.bad > 3)
		warn("%s: %ju lines or attributes skipped", reader.in.name, (uintmax_t)reader.bad);
	in_close(&reader.in);
}

/* ---- lookup of the attributes ------------------------------------------------------------------------------- */

const struct link_attr *link_attrs_find(const struct link_attrs *attrs, struct str text, struct str suffix)
{
	struct text complete = { 0 };

	text_str(&complete, text);
	text_str(&complete, suffix);
	uint32_t id = intern_find(&attrs->names, text_view(&complete));
	text_free(&complete);
	if (!id)
		id = intern_find(&attrs->names, text);
	return id ? &attrs->of[id] : NULL;
}

void link_attrs_free(struct link_attrs *attrs)
{
	intern_free(&attrs->names);
	free(attrs->of);
	arena_free(&attrs->memory);
	*attrs = (struct link_attrs){ 0 };
}
