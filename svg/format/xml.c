/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/format/xml.h"

static const char *xml_entity(char byte)
{
	switch (byte) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	default: return NULL;
	}
}

static void put_escaped(struct text *text, struct str string, bool quotes)
{
	size_t from = 0;

	for (size_t i = 0; i < string.n; i++) {
		const char *end = xml_entity(string.p[i]);
		if (!end || (!quotes && (string.p[i] == '"' || string.p[i] == '\'')))
			continue;
		text_bytes(text, string.p + from, i - from);
		text_add(text, end);
		from = i + 1;
	}
	if (from < string.n)
		text_bytes(text, string.p + from, string.n - from);
}

void xml_text(struct text *text, struct str string)
{
	put_escaped(text, string, false);
}

void xml_attribute(struct text *text, struct str string)
{
	put_escaped(text, string, true);
}

void xml_json(struct text *text, struct str string)
{
	text_char(text, '"');
	for (size_t i = 0; i < string.n; i++) {
		if (string.p[i] == '"' || string.p[i] == '\\')
			text_char(text, '\\');
		xml_text(text, (struct str){ string.p + i, 1 });
	}
	text_char(text, '"');
}
