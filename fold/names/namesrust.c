/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/names/languages.h"

static bool all_hex(struct str string)
{
	for (size_t i = 0; i < string.n; i++)
		if (!byte_is_hex(string.p[i]))
			return false;
	return true;
}

/* Sets *without to the part of a symbol of legacy mangling before its hash, which is "::h" and 16 hex digits at its
 * end. Returns false if there is no such hash; v0 mangling is handled by put_rust_v0(). */
static bool rust_hash(struct str string, struct str *without)
{
	ptrdiff_t llvm = str_find_str(string, STR(".llvm."));

	if (llvm > 0)
		string.n = (size_t)llvm;
	if (string.n > 19 && str_eq(str_head(str_from(string, string.n - 19), 3), STR("::h")) &&
	    all_hex(str_from(string, string.n - 16))) {
		*without = str_head(string, string.n - 19);
		return true;
	}
	return false;
}

/* Decodes an escape of legacy mangling, "$...$", at the start of `string`, and sets *c to the character. Returns the
 * length of the escape; 0 if there is none. */
static size_t rust_escape(struct str string, char *c)
{
	static const struct {
		struct str code;
		char c;
	} escapes[] = { { STR("$SP$"), '@' }, { STR("$BP$"), '*' }, { STR("$RF$"), '&' }, { STR("$LT$"), '<' },
			{ STR("$GT$"), '>' }, { STR("$LP$"), '(' }, { STR("$RP$"), ')' }, { STR("$C$"), ',' } };
	uint64_t code;
	ptrdiff_t end;

	for (size_t i = 0; i < countof(escapes); i++) {
		if (str_starts(string, escapes[i].code)) {
			*c = escapes[i].c;
			return escapes[i].code.n;
		}
	}
	if (!str_starts(string, STR("$u")))
		return 0;
	end = str_find(str_from(string, 2), '$');
	if (end < 1 || end > 2 || !str_hex(str_head(str_from(string, 2), (size_t)end), &code) || code < 0x20 ||
	    code > 0x7E)
		return 0;
	*c = (char)code;
	return (size_t)end + 3;
}

/* Appends a name of legacy mangling with its escapes decoded; ".." becomes "::". */
static void put_rust_legacy(struct text *out, struct str string)
{
	for (size_t i = 0; i < string.n;) {
		char byte;
		size_t len = string.p[i] == '$' ? rust_escape(str_from(string, i), &byte) : 0;

		if (len) {
			text_char(out, byte);
			i += len;
		} else if (str_starts(str_from(string, i), STR(".."))) {
			text_bytes(out, "::", 2);
			i += 2;
		} else if (i == 0 && str_starts(string, STR("_$"))) {
			/* rustc writes this '_' only so that the symbol does not start with '$'. */
			i++;
		} else if (string.p[i] == '_' && i >= 2 && string.p[i - 1] == ':' && i + 1 < string.n &&
			   string.p[i + 1] == '$') {
			i++;
		} else {
			text_char(out, string.p[i++]);
		}
	}
}

/* Appends a name of v0 mangling without the hashes of crates: core[846817f741e54dfd]::slice becomes core::slice. A hash
 * may have fewer than 16 digits, since leading zeros are not printed. Returns false if there is no hash: the caller
 * then removes the appended text. */
static bool put_rust_v0(struct text *out, struct str string)
{
	bool any = false;

	for (size_t i = 0; i < string.n; i++) {
		/* the hash has at most 16 digits */
		struct str rest = str_from(string, i), hash = str_head(rest, rest.n < 18 ? rest.n : 18);
		ptrdiff_t close = string.p[i] == '[' && i > 0 && is_word(string.p[i - 1]) ? str_find(hash, ']') : -1;

		if (close > 8 && close < 18 && all_hex(str_head(str_from(string, i + 1), (size_t)close - 1)) &&
		    str_starts(str_from(string, i + (size_t)close + 1), STR("::"))) {
			i += (size_t)close;
			any = true;
			continue;
		}
		text_char(out, string.p[i]);
	}
	return any;
}

bool rust_name(struct text *out, struct str string)
{
	size_t from = out->n;
	struct str without;

	if (rust_hash(string, &without)) {
		put_rust_legacy(out, without);
		return true;
	}
	if (str_find(string, '[') > 0 && put_rust_v0(out, string))
		return true;
	out->n = from;
	return false;
}
