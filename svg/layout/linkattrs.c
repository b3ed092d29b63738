/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/layout/linkattrs.h"

#include "common/filter/in.h"
#include "common/visible.h"

#include <stdlib.h>

struct reader {
	struct link_attrs *attrs;
	struct in in;
	uint64_t bad;  /* lines and addresses */
	bool reported; /* of keys without effect */
};

/* ---- addresses ---------------------------------------------------------------------------------------------- */

static bool starts_in_any_case(struct str s, const char *lower)
{
	size_t n = strlen(lower);

	if (s.n < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		if ((s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] | 32 : s.p[i]) != lower[i])
			return false;
	}
	return true;
}

/* Browsers drop blanks and control characters and read a backslash as a slash: neither may be in an address. A relative
 * one has no colon before its first / ? #, and does not name a server (//). */
bool link_attrs_is_safe_href(struct str href)
{
	uint32_t code;

	for (struct str s = href; s.n;) {
		size_t n = visible_point(s, &code);
		if (n == 0 || code <= 0x20 || code == 0x7f || code == '\\')
			return false;
		s = str_from(s, n);
	}
	if (starts_in_any_case(href, "http://") || starts_in_any_case(href, "https://"))
		return true;
	for (size_t i = 0; i < href.n && !strchr("/?#", href.p[i]); i++) {
		if (href.p[i] == ':')
			return false;
	}
	return !str_starts(href, STR("//"));
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

static void linkattrs_refuse(struct reader *r, const char *why, struct str what)
{
	if (r->bad++ < 3)
		warn_at(in_place(&r->in), "%s%.*s", why, (int)(what.n < 200 ? what.n : 200), what.p ? what.p : "");
}

static struct str without_quotes(struct str s)
{
	return s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"' ? str_head(str_from(s, 1), s.n - 2) : s;
}

static void set_href(struct reader *r, struct link_attr *attr, struct str value)
{
	struct str seen = visible_copy(&r->attrs->memory, value);

	if (link_attrs_is_safe_href(value) && str_eq(seen, value))
		attr->href = seen;
	else
		linkattrs_refuse(r, "not an address of http, https or a relative one: ", value);
}

static void set_key(struct reader *r, struct link_attr *attr, struct str key, struct str value)
{
	if (str_eq(key, STR("title"))) {
		attr->title = visible_copy(&r->attrs->memory, value);
	} else if (str_eq(key, STR("href"))) {
		set_href(r, attr, value);
	} else if (!str_eq(key, STR("target")) && !r->reported) { /* links open where the reader wants */
		warn_at(in_place(&r->in), "'%.*s' has no effect: title and href are used",
			(int)(key.n < 200 ? key.n : 200), key.p);
		r->reported = true;
	}
}

/* Of several lines about a name the last counts. */
static void linkattrs_keep(struct link_attrs *a, struct str name, struct link_attr attr)
{
	uint32_t id = intern(&a->names, visible_copy(&a->memory, name));

	if (id >= a->cap) {
		a->cap = id * 2 + 64;
		a->of = mem_grow(a->of, sizeof(*a->of), a->cap);
	}
	a->of[id] = attr;
}

static void linkattrs_read_line(struct reader *r, struct str line)
{
	struct str rest = line, name = str_cut(&rest, '\t');
	struct link_attr attr = { 0 };

	if (name.n == line.n) {
		linkattrs_refuse(r, "not attributes of a name: no tab behind it", (struct str){ 0 });
		return;
	}
	while (rest.n) {
		struct str value = str_cut(&rest, '\t'), complete = value, key = str_cut(&value, '=');
		if (key.n == complete.n)
			linkattrs_refuse(r, "not an attribute, key=value: ", complete);
		else
			set_key(r, &attr, key, without_quotes(value));
	}
	linkattrs_keep(r->attrs, name, attr);
}

void link_attrs_read(struct link_attrs *a, const char *path)
{
	struct reader r = { .attrs = a };
	struct str line;

	*a = (struct link_attrs){ 0 };
	in_open(&r.in, path);
	in_expect_text(&r.in);
	while (in_line(&r.in, &line)) {
		line = str_trim_right(line);
		if (line.n)
			linkattrs_read_line(&r, line);
	}
	if (r.in.errors)
		die_at(in_place(&r.in), "%s", r.in.errors);
	if (r.bad > 3)
		warn("%s: %ju lines or attributes skipped", r.in.name, (uintmax_t)r.bad);
	in_close(&r.in);
}

/* ---- use ---------------------------------------------------------------------------------------------------- */

const struct link_attr *link_attrs_find(const struct link_attrs *a, struct str text, struct str suffix)
{
	struct text complete = { 0 };

	text_str(&complete, text);
	text_str(&complete, suffix);
	uint32_t id = intern_find(&a->names, text_view(&complete));
	text_free(&complete);
	if (!id)
		id = intern_find(&a->names, text);
	return id ? &a->of[id] : NULL;
}

void link_attrs_free(struct link_attrs *a)
{
	intern_free(&a->names);
	free(a->of);
	arena_free(&a->memory);
	*a = (struct link_attrs){ 0 };
}
