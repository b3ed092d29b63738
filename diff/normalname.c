/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/normalname.h"

#include "common/formats/folded.h"

/* In the order in which a tie is decided. */
static const struct str suffixes[NORMALNAME_KINDS] = {
	[NORMALNAME_JIT] = STR("_[j]"),         [NORMALNAME_INLINED] = STR("_[i]"), [NORMALNAME_C1] = STR("_[1]"),
	[NORMALNAME_INTERPRETED] = STR("_[0]"), [NORMALNAME_NATIVE] = STR(""),
};

struct str normalname_suffix(enum normalname_kind kind)
{
	return suffixes[kind];
}

/* Cuts the suffix off. Kernel code is other code: its suffix stays, as *tail. */
static struct str normalname_cut_kind(struct str frame, struct str *tail, enum normalname_kind *kind)
{
	struct str fp = folded_plain(frame);

	*tail = str_from(frame, fp.n);
	*kind = NORMALNAME_NATIVE;
	for (unsigned k = 0; tail->n && k < NORMALNAME_NATIVE; k++) {
		if (str_eq(*tail, suffixes[k])) {
			*kind = (enum normalname_kind)k;
			tail->n = 0;
		}
	}
	return fp;
}

static size_t normalname_digits_at(struct str s, size_t i)
{
	size_t n = 0;

	while (i + n < s.n && byte_is_digit(s.p[i + n]))
		n++;
	return n;
}

static size_t hex_at(struct str s, size_t i)
{
	size_t n = 0;

	while (i + n < s.n && byte_is_hex(s.p[i + n]))
		n++;
	return n;
}

/* f.cold, f.part.0, f.constprop.0.isra.2 -> f. Names with '/' are not of a C compiler. */
static struct str without_clones(struct str s)
{
	static const struct str numbered[] = { STR(".cold"),      STR(".part"),     STR(".isra"),
					       STR(".constprop"), STR(".lto_priv"), STR(".llvm") };
	struct str before;

	if (str_find(s, '/') >= 0)
		return s;
	do {
		struct str rest = s;

		before = s;
		while (rest.n && byte_is_digit(rest.p[rest.n - 1]))
			rest.n--;
		if (rest.n < s.n && rest.n && rest.p[rest.n - 1] == '.')
			rest.n--;
		else
			rest = s;
		for (size_t i = 0; i < countof(numbered); i++)
			if ((rest.n < s.n || i == 0) && rest.n > numbered[i].n && str_ends(rest, numbered[i]))
				s = str_head(s, rest.n - numbered[i].n);
	} while (s.n < before.n);
	return s;
}

/* Numbers of a class that was made at run time: "$12/0x00007f04bc002aa0", "$14", "/485815673", ".0x80". */
static size_t class_number(struct str s, size_t i)
{
	size_t from = i;

	while (i + 1 < s.n && (s.p[i] == '$' || s.p[i] == '/' || s.p[i] == '.' || s.p[i] == '+')) {
		bool hex = s.p[i + 1] == '0' && i + 2 < s.n && s.p[i + 2] == 'x';
		size_t n = hex ? 2 + hex_at(s, i + 3) : normalname_digits_at(s, i + 1);

		if (n == 0)
			break;
		i += 1 + n;
	}
	return i - from;
}

/* "/0x7f04bc002aa0" and "+0x1c": addresses and offsets. */
static size_t normalname_address(struct str s, size_t i)
{
	size_t n;

	if ((s.p[i] != '/' && s.p[i] != '+') || i + 3 >= s.n || s.p[i + 1] != '0' || s.p[i + 2] != 'x')
		return 0;
	n = hex_at(s, i + 3);
	return n ? 3 + n : 0;
}

static bool is_word_byte(char c)
{
	return byte_is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_';
}

/* What is numbered by the JVM, and how long its name is without the number. */
static size_t normalname_generated(struct str s, size_t i)
{
	static const struct str prefixes[] = { STR("GeneratedMethodAccessor"), STR("GeneratedConstructorAccessor"),
					       STR("GeneratedSerializationConstructorAccessor"), STR("$Proxy"),
					       STR("jdk/proxy") };

	for (size_t k = 0; k < countof(prefixes); k++)
		if (str_starts(str_from(s, i), prefixes[k]))
			return prefixes[k].n;
	return 0;
}

/* lambda$main$0, lambda$main$7f6d5c3e$1 -> lambda$main, from i to the end of the method's name. */
static size_t normalname_lambda(struct str s, size_t i, size_t *skip)
{
	struct str rest = str_from(s, i), name;
	ptrdiff_t number, hash;

	*skip = 0;
	if (!str_starts(rest, STR("lambda$")) || (i && (is_word_byte(s.p[i - 1]) || s.p[i - 1] == '$')))
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

static void put_generated(struct text *t, struct str s)
{
	for (size_t i = 0; i < s.n;) {
		size_t n = 0, skip = 0;

		if (s.p[i] == '/' || s.p[i] == '+') {
			skip = normalname_address(s, i);
		} else if (s.p[i] == '$' && str_starts(str_from(s, i), STR("$$Lambda"))) {
			n = 8;
			skip = class_number(s, i + n);
		} else if (s.p[i] == 'L' && str_starts(str_from(s, i), STR("LambdaForm$"))) {
			n = 11;
			while (i + n < s.n && is_word_byte(s.p[i + n]))
				n++;
			skip = class_number(s, i + n);
		} else if (s.p[i] == 'l') {
			n = normalname_lambda(s, i, &skip);
		} else if (s.p[i] == 'G' || s.p[i] == '$' || s.p[i] == 'j') {
			n = normalname_generated(s, i);
			skip = n ? normalname_digits_at(s, i + n) : 0;
		}
		if (n == 0 && skip == 0)
			n = 1;
		text_bytes(t, s.p + i, n);
		i += n + skip;
	}
}

static struct str without_hex(struct normalname *c, struct str s)
{
	c->hex.n = 0;
	for (size_t i = 0; i < s.n;) {
		size_t n = s.p[i] == '0' && i + 2 < s.n && s.p[i + 1] == 'x' ? hex_at(s, i + 2) : 0;

		if (n)
			text_str(&c->hex, STR("0x..."));
		else
			text_char(&c->hex, s.p[i]);
		i += n ? n + 2 : 1;
	}
	return text_view(&c->hex);
}

/* Is there anything that put_generated could change? Most names have nothing. */
static bool normalname_plain(struct str s)
{
	return s.n == 0 || (!memchr(s.p, '$', s.n) && str_find_str(s, STR("0x")) < 0 &&
			    str_find_str(s, STR("Accessor")) < 0 && str_find_str(s, STR("jdk/proxy")) < 0);
}

struct str normalname_name(struct normalname *c, struct str frame, enum normalname_kind *kind)
{
	struct str tail, fp;

	*kind = NORMALNAME_NATIVE;
	if (c->exact)
		return c->strip_hex ? without_hex(c, frame) : frame;
	fp = normalname_cut_kind(frame, &tail, kind);
	fp = without_clones(fp);
	c->text.n = 0;
	if (normalname_plain(fp))
		text_str(&c->text, fp);
	else
		put_generated(&c->text, fp);
	if (c->text.n == 0)
		text_str(&c->text, fp); /* nothing but an address */
	text_str(&c->text, tail);
	return c->strip_hex ? without_hex(c, text_view(&c->text)) : text_view(&c->text);
}

void normalname_free(struct normalname *c)
{
	text_free(&c->text);
	text_free(&c->hex);
}
