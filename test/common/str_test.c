/* str_test - borrowed bytes. */
/* covers: common/str.c */
#include "common/str.h"

#include "test/lib/tap.h"

#include <stdlib.h>

static bool glob(const char *pattern, const char *string)
{
	return str_glob(str_of(pattern), str_of(string));
}

static void numbers(void)
{
	uint64_t v = 7;

	ok(str_u64(STR("0"), &v) && v == 0, "u64: 0");
	ok(str_u64(STR("18446744073709551615"), &v) && v == UINT64_MAX, "u64: the largest");
	v = 7;
	ok(!str_u64(STR("18446744073709551616"), &v), "u64: one more does not fit");
	ok(!str_u64(STR("99999999999999999999"), &v), "u64: nor does a product that wraps");
	ok(!str_u64(STR(""), &v) && !str_u64((struct str){ 0 }, &v), "u64: empty is no number");
	ok(!str_u64(STR("+1"), &v) && !str_u64(STR("-1"), &v) && !str_u64(STR(" 1"), &v) && !str_u64(STR("1 "), &v) &&
		   !str_u64(STR("1.0"), &v) && !str_u64(STR("0x1"), &v),
	   "u64: sign, blank, point and prefix are refused");
	is_u64(v, 7, "u64: the value is left alone on failure");
	ok(str_u64(STR("000000000000000000000000000042"), &v) && v == 42, "u64: leading zeros");
	ok(!str_u64(STR("1\0002"), &v), "u64: a NUL is not a digit");
	ok(str_decimals(STR("25 s"), 1000000000, &v) == 2 && v == 250000000, "decimals: those of 0.25 s in ns");
	ok(str_decimals(STR("0000000019"), 1000000000, &v) == 10 && v == 1, "decimals: digits below 1 do not count");
	ok(str_decimals(STR(""), 1000, &v) == 0 && v == 0 && str_decimals(STR("-1"), 1000, &v) == 0 && v == 0,
	   "decimals: no digit");

	ok(str_hex(STR("ffffffffffffffff"), &v) && v == UINT64_MAX, "hex: the largest");
	ok(!str_hex(STR("10000000000000000"), &v), "hex: one more does not fit");
	ok(str_hex(STR("00000000000000000deadBEEF"), &v) && v == 0xdeadbeef, "hex: both cases, leading zeros");
	ok(!str_hex(STR(""), &v) && !str_hex(STR("0x1"), &v) && !str_hex(STR("g"), &v) && !str_hex(STR("@"), &v) &&
		   !str_hex(STR("`"), &v),
	   "hex: anything else is refused");
}

static void blobs(void)
{
	struct str s = STR("a;;b"), t;
	char dirty[] = { 'a', '\0', ';', 'b' };

	is_str(str_cut(&s, ';'), STR("a"), "cut: head");
	is_str(str_cut(&s, ';'), STR(""), "cut: an empty part between two separators");
	is_str(str_cut(&s, ';'), STR("b"), "cut: the last part has no separator");
	ok(s.n == 0, "cut: nothing is left");
	is_str(str_cut(&s, ';'), STR(""), "cut: of nothing is nothing");
	s = (struct str){ 0 };
	ok(str_cut(&s, ';').n == 0 && s.n == 0, "cut: of {0}");
	s = (struct str){ dirty, sizeof(dirty) };
	t = str_cut(&s, ';');
	ok(t.n == 2 && t.p[1] == '\0' && s.n == 1, "cut: NUL is a byte like others");

	is_str(str_trim(STR(" \t\r x y \r")), STR("x y"), "trim: blanks at both ends");
	is_str(str_trim(STR(" \t ")), STR(""), "trim: nothing but blanks");
	is_u64(str_trim((struct str){ 0 }).n, 0, "trim: {0}");

	ok(str_find(STR("abcb"), 'b') == 1 && str_rfind(STR("abcb"), 'b') == 3, "find and rfind");
	ok(str_find(STR("abc"), 'x') == -1 && str_rfind(STR(""), 'x') == -1 && str_find((struct str){ 0 }, 0) == -1,
	   "find: not there");
	ok(str_find(str_head(STR("abc"), 2), 'c') == -1, "find: stays inside");
	ok(str_find_str(STR("aabaab"), STR("aab")) == 0 && str_find_str(STR("aaab"), STR("aab")) == 1, "find_str");
	ok(str_find_str(STR("x"), STR("")) == 0 && str_find_str((struct str){ 0 }, STR("")) == 0 &&
		   str_find_str((struct str){ 0 }, STR("a")) == -1,
	   "find_str: empty needle, empty text");

	ok(str_starts(STR("abc"), STR("ab")) && str_starts(STR("abc"), STR("")) && !str_starts(STR("a"), STR("ab")),
	   "starts");
	ok(str_ends(STR("abc"), STR("bc")) && str_ends(STR("abc"), STR("")) && !str_ends(STR("c"), STR("bc")), "ends");
	ok(str_ends((struct str){ 0 }, (struct str){ 0 }), "ends: {0}");
	ok(str_starts((struct str){ 0 }, (struct str){ 0 }) && str_eq((struct str){ 0 }, STR("")), "{0} is empty");
}

/* Every length and every first difference around the blocks that are compared at once. Copies of exactly the size. */
static void common(void)
{
	bool right = true;

	for (size_t n = 0; n < 200; n++) {
		for (size_t at = 0; at <= n; at++) {
			char *a = malloc(n + 1), *b = malloc(n + 1), *x = a + 1, *y = b + 1;

			memset(x, 'x', n);
			memset(y, 'x', n);
			if (at < n)
				y[at] = 'y';
			if (at + 3 < n)
				x[at + 3] = 'z';
			right = right && str_common((struct str){ x, n }, (struct str){ y, n }) == at &&
				str_common((struct str){ x, n }, (struct str){ y, at }) == at &&
				str_common((struct str){ x, at }, (struct str){ y, n }) == at;
			free(a);
			free(b);
		}
	}
	ok(right, "common: how many bytes are alike");
	ok(str_common((struct str){ 0 }, STR("a")) == 0 && str_common(STR("a\0b"), STR("a\0c")) == 2,
	   "common: nothing, NUL");
}

static void order(void)
{
	ok(str_cmp(STR("a"), STR("b")) < 0 && str_cmp(STR("b"), STR("a")) > 0 && str_cmp(STR("a"), STR("a")) == 0,
	   "cmp");
	ok(str_cmp(STR("a"), STR("ab")) < 0 && str_cmp(STR("a\0"), STR("a")) > 0, "cmp: a prefix comes first");
	ok(str_cmp(STR("\x7f"), STR("\x80")) < 0 && str_cmp(STR("\xff"), STR("a")) > 0, "cmp: bytes are unsigned");
	ok(str_cmp((struct str){ 0 }, STR("")) == 0 && str_cmp((struct str){ 0 }, STR("a")) < 0, "cmp: {0}");
}

static void globs(void)
{
	char many_a[4001], pattern[4001];
	size_t n = 0;

	ok(glob("", "") && !glob("", "a") && glob("*", "") && glob("***", "abc"), "glob: empty, stars");
	ok(glob("a*c", "abbbc") && glob("a*c", "ac") && !glob("a*c", "acb") && glob("*b*", "abc"), "glob: *");
	ok(glob("a*b*c", "aXbYbZc") && !glob("a*b*c", "aXcYb"), "glob: two stars");
	ok(glob("*.so", "a/b.so.so") && glob("a?c", "abc") && !glob("a?c", "ac") && !glob("?", ""), "glob: ?");
	ok(glob("*", "/a/.b") && glob("?x", ".x"), "glob: no rule for / or a leading dot");
	ok(glob("[a-c]x", "bx") && !glob("[a-c]x", "dx") && glob("[!a-c]x", "dx") && glob("[^a]", "b"), "glob: sets");
	ok(glob("[]]", "]") && glob("[]a]", "a") && glob("[!]]", "a") && !glob("[!]]", "]"), "glob: ] in first place");
	ok(glob("[a-]", "-") && glob("[-a]", "-") && glob("[*?]", "*") && !glob("[*]", "x"),
	   "glob: literal - * ? in a set");
	ok(glob("[", "[") && glob("[a", "[a") && !glob("[a", "a") && glob("a[", "a["), "glob: [ without ]");
	ok(glob("[!", "[!") && glob("[]", "[]"), "glob: a set that never ends");
	ok(glob("\\*", "*") && !glob("\\*", "x") && glob("\\[a]", "[a]") && glob("a\\", "a\\"), "glob: backslash");
	ok(glob("[z-a]", "m") == false, "glob: an empty range holds nothing");
	ok(str_glob(STR("a*\0b"), STR("axx\0b")) && !str_glob(STR("a*\0b"), STR("axxb")), "glob: NUL");
	ok(glob("[\x80-\xff]", "\xc3") && !glob("[\x80-\xff]", "a"), "glob: bytes above 127");
	ok(glob("http-*-[0-9]", "http-nio-8080-exec-3") && !glob("http-*-[0-9]", "http-nio-8080-exec-13x"),
	   "glob: a comm");

	memset(many_a, 'a', 4000);
	many_a[4000] = 0;
	while (n + 2 < sizeof(pattern)) {
		pattern[n++] = '*';
		pattern[n++] = 'a';
	}
	pattern[n - 1] = 'b';
	pattern[n] = 0;
	ok(!glob(pattern, many_a), "glob: 2000 stars end soon");
}

int main(void)
{
	numbers();
	blobs();
	common();
	order();
	globs();
	return done();
}
