/* SPDX-License-Identifier: Apache-2.0 */
#include "common/visible.h"

size_t visible_point(struct str string, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	if (string.n == 0)
		return 0;
	unsigned char byte = (unsigned char)string.p[0];
	if (byte < 0x80) {
		*code = byte;
		return 1;
	}
	size_t n = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
	if (byte < 0xc2 || byte > 0xf4 || string.n < n)
		return 0;
	uint32_t u = byte & (0xffU >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		unsigned char d = (unsigned char)string.p[i];
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
		{ 0x200b, 0x200f },   /* zero-width characters, direction marks */
		{ 0x2028, 0x202e },   /* separators of lines and paragraphs, embeddings and overrides of direction */
		{ 0x2060, 0x206f },   /* invisible operators, isolates of direction */
		{ 0x3164, 0x3164 },   /* Hangul filler */
		{ 0xfdd0, 0xfdef },   /* noncharacters; those at the end of each plane are tested below */
		{ 0xfeff, 0xfeff },   /* byte order mark */
		{ 0xffa0, 0xffa0 },   /* halfwidth Hangul filler */
		{ 0xfff0, 0xfffb },   /* unassigned characters, interlinear annotations */
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

/* Returns the length in bytes of the escape (\xNN, \uNNNN, \UNNNNNNNN) at the start of string; 0 if there is no escape.
 * The first byte of string must be a backslash. */
static size_t escape_length(struct str string)
{
	size_t digits = string.n < 2 ? 0 : string.p[1] == 'x' ? 2 : string.p[1] == 'u' ? 4 : string.p[1] == 'U' ? 8 : 0;

	if (digits == 0 || string.n < digits + 2)
		return 0;
	for (size_t i = 2; i < digits + 2; i++) {
		if (!byte_is_hex(string.p[i]))
			return 0;
	}
	return digits + 2;
}

/* Returns true if the first byte of string is ASCII and visible_str appends it unchanged. */
static bool visible_is_plain(struct str string)
{
	unsigned char byte = (unsigned char)string.p[0];

	return byte >= 0x20 && byte < 0x7f && (byte != '\\' || !escape_length(string));
}

#define EACH_BYTE(byte) ((byte)*UINT64_C(0x0101010101010101))

/* Returns true only if the 8 bytes at p are ASCII from space to tilde without a backslash. May return false for such
 * bytes, too: a byte below 0x20 or a backslash sets the high bit of its byte in `low` or `backslash`, but a borrow from
 * the byte before can set that bit, too. */
static bool eight_plain(const char *p)
{
	uint64_t bytes, low, backslash;

	memcpy(&bytes, p, sizeof(bytes));
	low = bytes - EACH_BYTE(0x20);
	backslash = (bytes ^ EACH_BYTE('\\')) - EACH_BYTE(1);
	return ((bytes | (bytes + EACH_BYTE(1)) | low | backslash) & EACH_BYTE(0x80)) == 0;
}

size_t visible_plain_length(struct str string)
{
	size_t plain = 0;

	while (plain < string.n) {
		if (string.n - plain >= 8 && eight_plain(string.p + plain))
			plain += 8;
		else if (visible_is_plain(str_from(string, plain)))
			plain++;
		else
			break;
	}
	return plain;
}

void visible_str(struct text *text, struct str string)
{
	while (string.n) {
		size_t plain = visible_plain_length(string);
		text_bytes(text, string.p, plain);
		string = str_from(string, plain);
		if (string.n == 0)
			break;

		uint32_t u = 0;
		size_t n = visible_point(string, &u);
		if (n <= 1)
			text_printf(text, "\\x%02x", (unsigned char)string.p[0]);
		else if (!visible_hides(u))
			text_bytes(text, string.p, n);
		else if (u > 0xffff)
			text_printf(text, "\\U%08x", u);
		else
			text_printf(text, "\\u%04x", u);
		string = str_from(string, n ? n : 1);
	}
}

/* Appends code point u in UTF-8. Returns false if u is a surrogate or beyond U+10FFFF. */
static bool put_utf8(struct text *text, uint64_t u)
{
	if (u > 0x10ffff || (u >= 0xd800 && u <= 0xdfff))
		return false;
	if (u < 0x80) {
		text_char(text, (char)u);
		return true;
	}
	unsigned more = u > 0xffff ? 3 : u > 0x7ff ? 2 : 1;
	text_char(text, (char)((0xff00u >> (more + 1) & 0xff) | u >> (6 * more)));
	while (more--)
		text_char(text, (char)(0x80 | (u >> (6 * more) & 0x3f)));
	return true;
}

void visible_bytes(struct text *text, struct str string)
{
	while (string.n) {
		size_t n = string.p[0] == '\\' ? escape_length(string) : 0;
		uint64_t value = 0;
		bool done = false;

		if (n && str_hex(str_from(str_head(string, n), 2), &value)) {
			done = n > 4 ? put_utf8(text, value) : true;
			if (n == 4)
				text_char(text, (char)value);
		}
		if (!done)
			text_char(text, string.p[0]);
		string = str_from(string, done ? n : 1);
	}
}

struct str visible_copy(struct arena *arena, struct str bytes)
{
	struct text text = { 0 };
	struct str copy;

	visible_str(&text, bytes);
	copy = arena_copy(arena, text_view(&text));
	text_free(&text);
	return copy;
}

struct str visible_head(struct str text, size_t n)
{
	if (text.n <= n)
		return text;
	while (n && ((unsigned char)text.p[n] & 0xc0) == 0x80)
		n--;
	return str_head(text, n);
}

#define ELLIPSIS "\xe2\x80\xa6"

void visible_middle(struct text *text, struct str string, size_t n)
{
	if (string.n <= n) {
		text_str(text, string);
		return;
	}
	size_t head = 2 * (n - STR(ELLIPSIS).n) / 5;
	size_t tail = string.n - (n - STR(ELLIPSIS).n - head);

	while (tail < string.n && ((unsigned char)string.p[tail] & 0xc0) == 0x80)
		tail++;
	text_str(text, visible_head(string, head));
	text_add(text, ELLIPSIS);
	text_str(text, str_from(string, tail));
}

void visible_short(struct text *text, struct str bytes, size_t n)
{
	struct text all = { 0 };

	/* converts only the start and the end of long text: visible text is not shorter than its bytes, so
	 * visible_middle would remove the rest anyway */
	if (bytes.n > 2 * n) {
		visible_str(&all, str_head(bytes, n));
		visible_str(&all, str_from(bytes, bytes.n - n));
	} else {
		visible_str(&all, bytes);
	}
	visible_middle(text, text_view(&all), n);
	text_free(&all);
}
