/* text_test - bytes that are appended: all of them, in order, whatever they are; numbers as people and SVG read them.
 */
/* covers: common/text.c */
#include "common/text.h"
#include "test/lib/tap.h"

static void test_bytes(void)
{
	static const char zeros[1000];
	struct text text = { 0 };
	bool grown = true;

	is_u64(text_view(&text).n, 0, "the zero value is empty");
	text_bytes(&text, "", 0);
	is_u64(text.cap, 0, "no bytes need no memory");
	text_add(&text, "a");
	text_char(&text, 'b');
	text_str(&text, STR("c"));
	text_bytes(&text, "\0;", 2);
	is_str(text_view(&text), ((struct str){ "abc\0;", 5 }), "bytes in order, and a NUL is one of them");
	for (unsigned i = 0; i < 1000; i++) {
		text_bytes(&text, zeros, i);
		text_char(&text, (char)('a' + i % 26));
		grown = grown && text.n <= text.cap && text.p[text.n - 1] == (char)('a' + i % 26);
	}
	ok(grown && text.n == 5 + 1000 + 999 * 1000 / 2, "half a megabyte, in 1,000 parts");
	ok(memcmp(text.p, "abc\0;ab", 6) == 0 && text.cap < 4 * text.n,
	   "  what was there stays, and memory is bounded");
	text_free(&text);
	ok(!text.p && !text.n && !text.cap, "empty again");
}

static void test_reserve(void)
{
	struct text text = { 0 };
	const char *memory;

	text_reserve(&text, 5000);
	ok(text.cap >= 5000 && text.n == 0, "room without bytes");
	memory = text.p;
	for (unsigned i = 0; i < 5000; i++)
		text_char(&text, 'x');
	ok(text.p == memory, "  is used before there is more");
	text_free(&text);
}

static void test_numbers(void)
{
	static const struct {
		uint64_t value;
		const char *plain, *grouped;
	} numbers[] = {
		{ 0, "0", "0" },
		{ 999, "999", "999" },
		{ 1000, "1000", "1,000" },
		{ 1234567, "1234567", "1,234,567" },
		{ UINT64_MAX, "18446744073709551615", "18,446,744,073,709,551,615" },
	};
	static const struct {
		int64_t value;
		const char *want;
	} tenths[] = { { 0, "0" },    { 5, ".5" },     { -5, "-.5" },   { 10, "1" },
		       { 12, "1.2" }, { -120, "-12" }, { -34, "-3.4" }, { INT64_MIN, "-922337203685477580.8" } };
	struct text text = { 0 };

	for (unsigned i = 0; i < countof(numbers); i++) {
		text.n = 0;
		text_u64(&text, numbers[i].value);
		is_str(text_view(&text), str_of(numbers[i].plain), numbers[i].plain);
		text.n = 0;
		text_grouped(&text, numbers[i].value);
		is_str(text_view(&text), str_of(numbers[i].grouped), "  in groups");
	}
	for (unsigned i = 0; i < countof(tenths); i++) {
		text.n = 0;
		text_tenths(&text, tenths[i].value);
		is_str(text_view(&text), str_of(tenths[i].want), tenths[i].want);
	}
	text.n = 0;
	text_rgb(&text, 0x00a1ff);
	is_str(text_view(&text), STR("#00a1ff"), "a colour has six digits");
	text_free(&text);
}

static void test_printf(void)
{
	struct text text = { 0 };

	text_printf(&text, "%s", "");
	is_u64(text.n, 0, "nothing printed");
	text_printf(&text, "%d;%s", 42, "x");
	text_printf(&text, "%0300d", 7);
	is_u64(text.n, 4 + 300, "longer than the room that there was");
	ok(memcmp(text.p, "42;x000", 7) == 0 && text.p[text.n - 1] == '7', "  complete, behind what was there");
	text_free(&text);
}

int main(void)
{
	test_bytes();
	test_reserve();
	test_numbers();
	test_printf();
	return done();
}
