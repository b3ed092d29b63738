/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/normalname.h"

#include "common/formats/folded.h"

/* Suffixes of frames by kind. If two kinds have equal weight, profile_end chooses the kind that comes first in enum
 * normalname_kind. */
static const struct str suffixes[NORMALNAME_KINDS] = {
	[NORMALNAME_JIT] = STR("_[j]"),         [NORMALNAME_INLINED] = STR("_[i]"), [NORMALNAME_C1] = STR("_[1]"),
	[NORMALNAME_INTERPRETED] = STR("_[0]"), [NORMALNAME_NATIVE] = STR(""),
};

struct str normalname_suffix(enum normalname_kind kind)
{
	return suffixes[kind];
}

/* Returns frame without its suffix. Sets *kind to the kind of the suffix; NORMALNAME_NATIVE if there is no suffix or
 * one without kind. A suffix without kind, such as that of kernel code, is stored in *suffix, and the caller appends it
 * again: a kernel function and a user function of the same name are different functions. */
static struct str normalname_cut_kind(struct str frame, struct str *suffix, enum normalname_kind *kind)
{
	struct str string = folded_plain(frame);

	*suffix = str_from(frame, string.n);
	*kind = NORMALNAME_NATIVE;
	for (unsigned index = 0; suffix->n && index < NORMALNAME_NATIVE; index++) {
		if (str_eq(*suffix, suffixes[index])) {
			*kind = (enum normalname_kind)index;
			suffix->n = 0;
		}
	}
	return string;
}

static size_t normalname_digits_at(struct str string, size_t i)
{
	size_t n = 0;

	while (i + n < string.n && byte_is_digit(string.p[i + n]))
		n++;
	return n;
}

static size_t hex_at(struct str string, size_t i)
{
	size_t n = 0;

	while (i + n < string.n && byte_is_hex(string.p[i + n]))
		n++;
	return n;
}

/* Removes the suffixes of clones that compilers make of a function: f.cold, f.part.0 and f.constprop.0.isra.2 become f.
 * Names with '/' stay, as they do not come from a C compiler. */
static struct str without_clones(struct str string)
{
	static const struct str numbered[] = { STR(".cold"),      STR(".part"),     STR(".isra"),
					       STR(".constprop"), STR(".lto_priv"), STR(".llvm") };
	struct str before;

	if (str_find(string, '/') >= 0)
		return string;
	do {
		struct str rest = string;

		before = string;
		while (rest.n && byte_is_digit(rest.p[rest.n - 1]))
			rest.n--;
		if (rest.n < string.n && rest.n && rest.p[rest.n - 1] == '.')
			rest.n--;
		else
			rest = string;
		for (size_t i = 0; i < countof(numbered); i++)
			if ((rest.n < string.n || i == 0) && rest.n > numbered[i].n && str_ends(rest, numbered[i]))
				string = str_head(string, rest.n - numbered[i].n);
	} while (string.n < before.n);
	return string;
}

/* Returns the length of the numbers at byte i that a JVM appends to the name of a generated class:
 * "$12/0x00007f04bc002aa0", "$14", "/485815673", ".0x80"; 0 if there are none. */
static size_t class_number(struct str string, size_t i)
{
	size_t from = i;

	while (i + 1 < string.n &&
	       (string.p[i] == '$' || string.p[i] == '/' || string.p[i] == '.' || string.p[i] == '+')) {
		bool hex = string.p[i + 1] == '0' && i + 2 < string.n && string.p[i + 2] == 'x';
		size_t n = hex ? 2 + hex_at(string, i + 3) : normalname_digits_at(string, i + 1);

		if (n == 0)
			break;
		i += 1 + n;
	}
	return i - from;
}

/* Returns the length of the address or offset at byte i, such as "/0x7f04bc002aa0" or "+0x1c"; 0 if there is none. */
static size_t normalname_address(struct str string, size_t i)
{
	size_t n;

	if ((string.p[i] != '/' && string.p[i] != '+') || i + 3 >= string.n || string.p[i + 1] != '0' ||
	    string.p[i + 2] != 'x')
		return 0;
	n = hex_at(string, i + 3);
	return n ? 3 + n : 0;
}

static bool is_word_byte(char byte)
{
	return byte_is_digit(byte) || ((byte | 32) >= 'a' && (byte | 32) <= 'z') || byte == '_';
}

/* Returns the length of the class name at byte i without its number, if it is the name of a class that a JVM generates
 * and numbers; 0 for other names. */
static size_t normalname_generated(struct str string, size_t i)
{
	static const struct str prefixes[] = { STR("GeneratedMethodAccessor"), STR("GeneratedConstructorAccessor"),
					       STR("GeneratedSerializationConstructorAccessor"), STR("$Proxy"),
					       STR("jdk/proxy") };

	for (size_t index = 0; index < countof(prefixes); index++)
		if (str_starts(str_from(string, i), prefixes[index]))
			return prefixes[index].n;
	return 0;
}

/* Returns the length of "lambda$main" if byte i begins the method name of a lambda: lambda$main$0,
 * lambda$main$7f6d5c3e$1. Sets *skip to the length of the rest of this name. Returns 0 for other names. */
static size_t normalname_lambda(struct str string, size_t i, size_t *skip)
{
	struct str rest = str_from(string, i), name;
	ptrdiff_t number, hash;

	*skip = 0;
	if (!str_starts(rest, STR("lambda$")) || (i && (is_word_byte(string.p[i - 1]) || string.p[i - 1] == '$')))
		return 0;
	name = rest;
	name.n = 0;
	while (name.n < rest.n &&
	       (is_word_byte(rest.p[name.n]) || rest.p[name.n] == '$' || (unsigned char)rest.p[name.n] >= 0x80))
		name.n++;
	number = str_rfind(name, '$');
	if (number <= 7 || (size_t)number + 1 >= name.n ||
	    (size_t)number + 1 + normalname_digits_at(name, (size_t)number + 1) != name.n)
		return 0;
	hash = str_rfind(str_head(name, (size_t)number), '$');
	if (hash > 7 && number - hash > 6 && hash + 1 + (ptrdiff_t)hex_at(name, (size_t)hash + 1) == number)
		number = hash;
	*skip = name.n - (size_t)number;
	return (size_t)number;
}

static void put_generated(struct text *text, struct str string)
{
	for (size_t i = 0; i < string.n;) {
		size_t n = 0, skip = 0;

		if (string.p[i] == '/' || string.p[i] == '+') {
			skip = normalname_address(string, i);
		} else if (string.p[i] == '$' && str_starts(str_from(string, i), STR("$$Lambda"))) {
			n = 8;
			skip = class_number(string, i + n);
		} else if (string.p[i] == 'L' && str_starts(str_from(string, i), STR("LambdaForm$"))) {
			n = 11;
			while (i + n < string.n && is_word_byte(string.p[i + n]))
				n++;
			skip = class_number(string, i + n);
		} else if (string.p[i] == 'l') {
			n = normalname_lambda(string, i, &skip);
		} else if (string.p[i] == 'G' || string.p[i] == '$' || string.p[i] == 'j') {
			n = normalname_generated(string, i);
			skip = n ? normalname_digits_at(string, i + n) : 0;
		}
		if (n == 0 && skip == 0)
			n = 1;
		text_bytes(text, string.p + i, n);
		i += n + skip;
	}
}

static struct str without_hex(struct normalname *normal, struct str string)
{
	normal->hex.n = 0;
	for (size_t i = 0; i < string.n;) {
		size_t n = string.p[i] == '0' && i + 2 < string.n && string.p[i + 1] == 'x' ? hex_at(string, i + 2) : 0;

		if (n)
			text_str(&normal->hex, STR("0x..."));
		else
			text_char(&normal->hex, string.p[i]);
		i += n ? n + 2 : 1;
	}
	return text_view(&normal->hex);
}

/* Returns true if put_generated would certainly not change the name, as for most names; false if it may change the
 * name. */
static bool normalname_plain(struct str string)
{
	return string.n == 0 ||
	       (!memchr(string.p, '$', string.n) && str_find_str(string, STR("0x")) < 0 &&
		str_find_str(string, STR("Accessor")) < 0 && str_find_str(string, STR("jdk/proxy")) < 0);
}

struct str normalname_name(struct normalname *normal, struct str frame, enum normalname_kind *kind)
{
	struct str suffix, string;

	*kind = NORMALNAME_NATIVE;
	if (normal->exact)
		return normal->strip_hex ? without_hex(normal, frame) : frame;
	string = normalname_cut_kind(frame, &suffix, kind);
	string = without_clones(string);
	normal->text.n = 0;
	if (normalname_plain(string))
		text_str(&normal->text, string);
	else
		put_generated(&normal->text, string);
	if (normal->text.n == 0)
		text_str(&normal->text, string); /* the complete name is an address, so it is not changed */
	text_str(&normal->text, suffix);
	return normal->strip_hex ? without_hex(normal, text_view(&normal->text)) : text_view(&normal->text);
}

void normalname_free(struct normalname *normal)
{
	text_free(&normal->text);
	text_free(&normal->hex);
}
