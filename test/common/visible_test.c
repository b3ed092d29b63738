/* What strangers call their functions must be visible, valid and inert. */
/* covers: common/visible.c svg/format/xml.c */
#include "test/lib/tap.h"

#include "svg/format/xml.h"
#include "common/visible.h"

#define BYTES(s) ((struct str){ s, sizeof(s) - 1 })

static void visible_is(struct str string, struct str want, const char *what)
{
	struct text t = { 0 };

	visible_str(&t, string);
	is_str(text_view(&t), want, what);
	text_free(&t);
}

static void put_is(void (*put)(struct text *, struct str), struct str string, struct str want, const char *what)
{
	struct text t = { 0 };

	put(&t, string);
	is_str(text_view(&t), want, what);
	text_free(&t);
}

static void test_visible(void)
{
	visible_is(STR("main"), STR("main"), "ASCII stays");
	visible_is(STR(""), STR(""), "nothing stays nothing");
	visible_is(STR("caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x94\xa5"),
		   STR("caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x94\xa5"), "two, three and four bytes stay");
	visible_is(BYTES("a\0b\x1b[31m\t\r\x7f"), STR("a\\x00b\\x1b[31m\\x09\\x0d\\x7f"), "C0 and DEL");
	visible_is(STR("\xc2\x80\xc2\x9f\xc2\xa0"), STR("\\u0080\\u009f\xc2\xa0"), "C1, but not what follows it");
	visible_is(STR("\xff\xfe\x80"), STR("\\xff\\xfe\\x80"), "bytes that never start a character");
	visible_is(STR("\xc0\x80\xc1\xbf"), STR("\\xc0\\x80\\xc1\\xbf"), "overlong, two bytes");
	visible_is(STR("\xe0\x80\xaf\xf0\x80\x80\xaf"), STR("\\xe0\\x80\\xaf\\xf0\\x80\\x80\\xaf"),
		   "overlong, three and four");
	visible_is(STR("\xed\xa0\x80\xed\xbf\xbf\xed\x9f\xbf"), STR("\\xed\\xa0\\x80\\xed\\xbf\\xbf\xed\x9f\xbf"),
		   "surrogates");
	visible_is(STR("\xf4\x8f\xbf\xbd\xf4\x90\x80\x80\xf5"), STR("\xf4\x8f\xbf\xbd\\xf4\\x90\\x80\\x80\\xf5"),
		   "the end of Unicode");
	visible_is(STR("\xe2\x82"), STR("\\xe2\\x82"), "cut at the end");
	visible_is(STR("\xe2\x82z"), STR("\\xe2\\x82z"), "cut in the middle");
	visible_is(STR("\xef\xbf\xbe\xef\xbf\xbf\xef\xb7\x90\xf0\x9f\xbf\xbe"), STR("\\ufffe\\uffff\\ufdd0\\U0001fffe"),
		   "noncharacters");
	visible_is(STR("a\xe2\x80\xae"
		       "b\xe2\x81\xa6"
		       "c\xe2\x80\x8b"
		       "d\xef\xbb\xbf"),
		   STR("a\\u202eb\\u2066c\\u200bd\\ufeff"), "direction, zero width, BOM");
	visible_is(STR("\xe2\x80\xa8\xe2\x80\xa9\xd8\x9c\xc2\xad"), STR("\\u2028\\u2029\\u061c\\u00ad"),
		   "separators, marks, soft hyphen");
	visible_is(STR("\xf3\xa0\x80\x81"), STR("\\U000e0001"), "tags");
	visible_is(STR("\xe2\x80\x90\xe2\x80\xaf\xe2\x81\x9f\xe2\x81\xb0"),
		   STR("\xe2\x80\x90\xe2\x80\xaf\xe2\x81\x9f\xe2\x81\xb0"), "the neighbours of what is hidden");
}

static void bytes_are(struct str string, struct str want, const char *what)
{
	struct text t = { 0 };

	visible_bytes(&t, string);
	is_str(text_view(&t), want, what);
	text_free(&t);
}

static void test_backslashes(void)
{
	visible_is(STR("a\\b\\xg0\\x4\\u123\\U1234567\\"), STR("a\\b\\xg0\\x4\\u123\\U1234567\\"),
		   "a backslash that begins no escape stays");
	visible_is(STR("\\x1b\\xFF\\u202e\\U000e0001"), STR("\\x5cx1b\\x5cxFF\\x5cu202e\\x5cU000e0001"),
		   "one that seems to begin one is one");
	visible_is(STR("\\\\x1b"), STR("\\\\x5cx1b"), "two backslashes");
	visible_is(STR("\\\x01"), STR("\\\\x01"), "a backslash before what is escaped");
	bytes_are(STR("\\x5cx1b\\x1b\\\\x01"), STR("\\x1b\x1b\\\x01"), "and back");
	bytes_are(STR("\\u0080\\u202e\\U000e0001\\U0001fffe\\xff"),
		  STR("\xc2\x80\xe2\x80\xae\xf3\xa0\x80\x81\xf0\x9f\xbf\xbe\xff"), "code points back");
	bytes_are(STR("\\ud800\\U00110000\\Uffffffff\\x4"), STR("\\ud800\\U00110000\\Uffffffff\\x4"),
		  "what is no code point stays");
}

/* Anything, made of the pieces that matter most. */
static void test_inverse(void)
{
	static const char *const blob[] = { "\\",   "x",    "u",    "U",    "0",    "00",   "5c",   "e",
					    "ae",   "202e", "\xe2", "\x80", "\xae", "\xc2", "\xf0", "\xf3\xa0\x80\x81",
					    "\x7f", "\x1b", "\xff", "&",    "g",    "\\x5c" };
	uint32_t seed = 1, wrong = 0;

	for (int i = 0; i < 200000; i++) {
		struct text in = { 0 }, seen = { 0 }, back = { 0 };
		uint32_t code;
		for (unsigned k = 0; k < 14; k++) {
			seed = seed * 1664525 + 1013904223;
			text_add(&in, blob[(seed >> 16) % countof(blob)]);
		}
		visible_str(&seen, text_view(&in));
		visible_bytes(&back, text_view(&seen));
		wrong += !str_eq(text_view(&in), text_view(&back));
		for (struct str s = text_view(&seen); s.n;) {
			size_t n = visible_point(s, &code);
			wrong += n == 0;
			s = str_from(s, n ? n : 1);
		}
		text_free(&in);
		text_free(&seen);
		text_free(&back);
	}
	is_u64(wrong, 0, "200,000 names become visible UTF-8 and come back");
}

static void test_utf8(void)
{
	uint32_t u = 0;

	is_u64(visible_point(STR(""), &u), 0, "no code point in nothing");
	is_u64(visible_point(STR("\xf0\x9f\x94\xa5x"), &u), 4, "length of four");
	is_u64(u, 0x1f525, "its code point");
}

static void test_places(void)
{
	put_is(xml_text, STR("a<b>&\"'"), STR("a&lt;b&gt;&amp;\"'"), "text");
	put_is(xml_text, STR("]]>"), STR("]]&gt;"), "the end of CDATA");
	put_is(xml_attribute, STR("a<b>&\"'"), STR("a&lt;b&gt;&amp;&quot;&#39;"), "attribute");
	put_is(xml_json, STR("a\"\\<"), STR("\"a\\\"\\\\&lt;\""), "JSON in XML");
	put_is(xml_json, STR(""), STR("\"\""), "empty JSON");
}

/* Each byte at each place of texts that are read eight bytes at a time: the text before it is plain, and so is all if
 * the byte is ASCII that can be seen. */
static void test_plain(void)
{
	unsigned wrong = 0;

	for (size_t n = 1; n <= 20; n++)
		for (size_t at = 0; at < n; at++)
			for (unsigned byte = 0; byte < 256; byte++) {
				char text[20];

				memset(text, 'z', sizeof(text));
				text[at] = (char)byte;
				wrong += visible_plain_length((struct str){ text, n }) !=
					 (byte >= 0x20 && byte < 0x7f ? n : at);
			}
	is_u64(wrong, 0, "the length of plain text before each byte at each place");
	is_u64(visible_plain_length(STR("abcdefg\\x41bcdefgh")), 7, "an escape ends it");
	is_u64(visible_plain_length(STR("abc\\defgh\\ijkl\\x4")), 17, "a backslash that begins none does not");
}

static void test_head(void)
{
	is_str(visible_head(STR("abc"), 3), STR("abc"), "a text that fits");
	is_str(visible_head(STR("abcd"), 3), STR("abc"), "a longer one");
	is_str(visible_head(STR("a\xc3\xa9z"), 2), STR("a"), "a character is not cut");
	is_str(visible_head(STR("a\xc3\xa9z"), 3), STR("a\xc3\xa9"), "  nor left out if it fits");
}

static void middle(struct str string, size_t n, struct str want, const char *name)
{
	struct text text = { 0 };

	visible_middle(&text, string, n);
	is_str(text_view(&text), want, name);
	text_free(&text);
}

static void test_middle(void)
{
	middle(STR("abcdefgh"), 8, STR("abcdefgh"), "a text that fits has its middle");
	middle(STR("web-frontend-prod-eu-1"), 11, STR("web\xe2\x80\xa6-eu-1"),
	       "a longer one has its start and its end");
	middle(STR("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"), 10, STR("\xc3\xa9\xe2\x80\xa6\xc3\xa9\xc3\xa9"),
	       "characters are complete");
	middle(STR(""), 8, STR(""), "an empty one");
}

int main(void)
{
	test_visible();
	test_backslashes();
	test_inverse();
	test_utf8();
	test_places();
	test_plain();
	test_head();
	test_middle();
	return done();
}
