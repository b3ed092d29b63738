/* SPDX-License-Identifier: Apache-2.0 */
#include "common/visible.h"

size_t visible_point(struct str s, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	if (s.n == 0)
		return 0;
	unsigned char c = (unsigned char)s.p[0];
	if (c < 0x80) {
		*code = c;
		return 1;
	}
	size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
	if (c < 0xc2 || c > 0xf4 || s.n < n)
		return 0;
	uint32_t u = c & (0xffU >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		unsigned char d = (unsigned char)s.p[i];
		if ((d & 0xc0) != 0x80)
			return 0;
		u = u << 6 | (d & 0x3f);
	}
	if (u < least[n] || u > 0x10ffff || (u >= 0xd800 && u <= 0xdfff))
		return 0;
	*code = u;
	return n;
}

bool visible_hides(uint32_t u)
{
	static const struct {
		uint32_t first, last;
	} range[] = {
		{ 0x80, 0x9f },       /* C1 controls */
		{ 0xad, 0xad },       /* soft hyphen */
		{ 0x34f, 0x34f },     /* combining grapheme joiner */
		{ 0x61c, 0x61c },     /* Arabic letter mark */
		{ 0x115f, 0x1160 },   /* Hangul fillers */
		{ 0x17b4, 0x17b5 },   /* invisible Khmer vowels */
		{ 0x180e, 0x180e },   /* Mongolian vowel separator */
		{ 0x200b, 0x200f },   /* zero width, direction marks */
		{ 0x2028, 0x202e },   /* line and paragraph separators, embeddings and overrides */
		{ 0x2060, 0x206f },   /* invisible operators, isolates */
		{ 0x3164, 0x3164 },   /* Hangul filler */
		{ 0xfdd0, 0xfdef },   /* noncharacters */
		{ 0xfeff, 0xfeff },   /* byte order mark */
		{ 0xffa0, 0xffa0 },   /* halfwidth Hangul filler */
		{ 0xfff0, 0xfffb },   /* unassigned, interlinear annotation */
		{ 0xe0000, 0xe0fff }, /* tags, variation selectors supplement */
	};

	for (size_t i = 0; i < countof(range); i++) {
		if (u < range[i].first)
			break;
		if (u <= range[i].last)
			return true;
	}
	return (u & 0xfffe) == 0xfffe;
}

/* Length of what looks like an escape at the start of s, a backslash; 0 when it is none. */
static size_t escape_length(struct str s)
{
	size_t digits = s.n < 2 ? 0 : s.p[1] == 'x' ? 2 : s.p[1] == 'u' ? 4 : s.p[1] == 'U' ? 8 : 0;

	if (digits == 0 || s.n < digits + 2)
		return 0;
	for (size_t i = 2; i < digits + 2; i++) {
		if (!byte_is_hex(s.p[i]))
			return 0;
	}
	return digits + 2;
}

/* Stays as it is. */
static bool visible_is_plain(struct str s)
{
	unsigned char c = (unsigned char)s.p[0];

	return c >= 0x20 && c < 0x7f && (c != '\\' || !escape_length(s));
}

void visible_str(struct text *t, struct str s)
{
	while (s.n) {
		size_t plain = 0;
		while (plain < s.n && visible_is_plain(str_from(s, plain)))
			plain++;
		text_bytes(t, s.p, plain);
		s = str_from(s, plain);
		if (s.n == 0)
			break;

		uint32_t u = 0;
		size_t n = visible_point(s, &u);
		if (n <= 1)
			text_printf(t, "\\x%02x", (unsigned char)s.p[0]);
		else if (!visible_hides(u))
			text_bytes(t, s.p, n);
		else if (u > 0xffff)
			text_printf(t, "\\U%08x", u);
		else
			text_printf(t, "\\u%04x", u);
		s = str_from(s, n ? n : 1);
	}
}

/* False: no code point has that number. */
static bool put_utf8(struct text *t, uint64_t u)
{
	if (u > 0x10ffff || (u >= 0xd800 && u <= 0xdfff))
		return false;
	if (u < 0x80) {
		text_char(t, (char)u);
		return true;
	}
	unsigned more = u > 0xffff ? 3 : u > 0x7ff ? 2 : 1;
	text_char(t, (char)((0xff00u >> (more + 1) & 0xff) | u >> (6 * more)));
	while (more--)
		text_char(t, (char)(0x80 | (u >> (6 * more) & 0x3f)));
	return true;
}

void visible_bytes(struct text *t, struct str s)
{
	while (s.n) {
		size_t n = s.p[0] == '\\' ? escape_length(s) : 0;
		uint64_t value = 0;
		bool done = false;

		if (n && str_hex(str_from(str_head(s, n), 2), &value)) {
			done = n > 4 ? put_utf8(t, value) : true;
			if (n == 4)
				text_char(t, (char)value);
		}
		if (!done)
			text_char(t, s.p[0]);
		s = str_from(s, done ? n : 1);
	}
}

struct str visible_copy(struct arena *a, struct str bytes)
{
	struct text t = { 0 };
	struct str copy;

	visible_str(&t, bytes);
	copy = arena_copy(a, text_view(&t));
	text_free(&t);
	return copy;
}

size_t visible_plain_length(struct str s)
{
	size_t plain = 0;

	while (plain < s.n && visible_is_plain(str_from(s, plain)))
		plain++;
	return plain;
}
