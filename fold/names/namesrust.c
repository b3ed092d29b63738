/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/names/languages.h"

static bool all_hex(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!byte_is_hex(s.p[i]))
			return false;
	return true;
}

/* Legacy mangling ends in ::h and 16 hex digits; v0 shows the crate's hash as name[16 hex digits]. */
static bool rust_hash(struct str s, struct str *without)
{
	ptrdiff_t llvm = str_find_str(s, STR(".llvm."));

	if (llvm > 0)
		s.n = (size_t)llvm;
	if (s.n > 19 && str_eq(str_head(str_from(s, s.n - 19), 3), STR("::h")) && all_hex(str_from(s, s.n - 16))) {
		*without = str_head(s, s.n - 19);
		return true;
	}
	return false;
}

/* One of legacy mangling's $..$ escapes at the start of s: its length, and what it stands for in *c; 0 when it is
 * none. */
static size_t rust_escape(struct str s, char *c)
{
	static const struct {
		struct str code;
		char c;
	} escapes[] = { { STR("$SP$"), '@' }, { STR("$BP$"), '*' }, { STR("$RF$"), '&' }, { STR("$LT$"), '<' },
			{ STR("$GT$"), '>' }, { STR("$LP$"), '(' }, { STR("$RP$"), ')' }, { STR("$C$"), ',' } };
	uint64_t code;
	ptrdiff_t end;

	for (size_t i = 0; i < countof(escapes); i++) {
		if (str_starts(s, escapes[i].code)) {
			*c = escapes[i].c;
			return escapes[i].code.n;
		}
	}
	if (!str_starts(s, STR("$u")))
		return 0;
	end = str_find(str_from(s, 2), '$');
	if (end < 1 || end > 2 || !str_hex(str_head(str_from(s, 2), (size_t)end), &code) || code < 0x20 || code > 0x7E)
		return 0;
	*c = (char)code;
	return (size_t)end + 3;
}

static void put_rust_legacy(struct text *out, struct str s)
{
	for (size_t i = 0; i < s.n;) {
		char c;
		size_t len = s.p[i] == '$' ? rust_escape(str_from(s, i), &c) : 0;

		if (len) {
			text_char(out, c);
			i += len;
		} else if (str_starts(str_from(s, i), STR(".."))) {
			text_bytes(out, "::", 2);
			i += 2;
		} else if (i == 0 && str_starts(s, STR("_$"))) {
			i++; /* the '_' only keeps the symbol from starting with '$' */
		} else if (s.p[i] == '_' && i >= 2 && s.p[i - 1] == ':' && i + 1 < s.n && s.p[i + 1] == '$') {
			i++;
		} else {
			text_char(out, s.p[i++]);
		}
	}
}

/* core[846817f741e54dfd]::slice -> core::slice; leading zeros of the hash are not printed */
static bool put_rust_v0(struct text *out, struct str s)
{
	bool any = false;

	for (size_t i = 0; i < s.n; i++) {
		ptrdiff_t close = s.p[i] == '[' && i > 0 && is_word(s.p[i - 1]) ? str_find(str_from(s, i), ']') : -1;

		if (close > 8 && close < 18 && all_hex(str_head(str_from(s, i + 1), (size_t)close - 1)) &&
		    str_starts(str_from(s, i + (size_t)close + 1), STR("::"))) {
			i += (size_t)close;
			any = true;
			continue;
		}
		text_char(out, s.p[i]);
	}
	return any;
}

bool rust_name(struct text *out, struct str s)
{
	size_t from = out->n;
	struct str without;

	if (rust_hash(s, &without)) {
		put_rust_legacy(out, without);
		return true;
	}
	if (str_find(s, '[') > 0 && put_rust_v0(out, s))
		return true;
	out->n = from;
	return false;
}
