/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/format/xml.h"

static const char *xml_entity(char c)
{
	switch (c) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	default: return NULL;
	}
}

static void put_escaped(struct text *t, struct str s, bool quotes)
{
	size_t from = 0;

	for (size_t i = 0; i < s.n; i++) {
		const char *e = xml_entity(s.p[i]);
		if (!e || (!quotes && (s.p[i] == '"' || s.p[i] == '\'')))
			continue;
		text_bytes(t, s.p + from, i - from);
		text_add(t, e);
		from = i + 1;
	}
	if (from < s.n)
		text_bytes(t, s.p + from, s.n - from);
}

void xml_text(struct text *t, struct str s)
{
	put_escaped(t, s, false);
}

void xml_attribute(struct text *t, struct str s)
{
	put_escaped(t, s, true);
}

void xml_json(struct text *t, struct str s)
{
	text_char(t, '"');
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '"' || s.p[i] == '\\')
			text_char(t, '\\');
		xml_text(t, (struct str){ s.p + i, 1 });
	}
	text_char(t, '"');
}
