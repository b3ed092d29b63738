/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/names/languages.h"

/* ---- brackets ----------------------------------------------------------------------------------------------- */

/* Length of the operator token at p (behind the word "operator"), or 0. */
static size_t operator_token(struct str s)
{
	static const struct str tokens[] = { STR("->*"), STR("<=>"), STR("<<="), STR(">>="), STR("()"),
					     STR("[]"),  STR("->"),  STR("<<"),  STR(">>"),  STR("<="),
					     STR(">="),  STR("<"),   STR(">"),   STR(",") };

	for (size_t i = 0; i < countof(tokens); i++)
		if (str_starts(s, tokens[i]))
			return tokens[i].n;
	return 0;
}

static bool operator_at(struct str s, size_t i)
{
	return s.p[i] == 'o' && str_starts(str_from(s, i), STR("operator")) && (i == 0 || !is_word(s.p[i - 1])) &&
	       (i + 8 == s.n || !is_word(s.p[i + 8]));
}

/* Where the bracket that opens at i closes (index behind it), 0 when it never does. Operators are no brackets. */
static size_t skip_group(struct str s, size_t i)
{
	size_t depth = 0;

	for (; i < s.n; i++) {
		char c = s.p[i];

		if (operator_at(s, i))
			i += 7 + operator_token(str_from(s, i + 8));
		else if (c == '(' || c == '<' || c == '{' || c == '[')
			depth++;
		else if (c == ')' || c == '}' || c == ']' || (c == '>' && s.p[i - 1] != '-'))
			depth--;
		if (depth == 0)
			return i + 1;
	}
	return 0;
}

/* ---- C++ ---------------------------------------------------------------------------------------------------- */

static bool word_before(struct str s, size_t i, struct str word)
{
	return i >= word.n && str_eq(str_head(str_from(s, i - word.n), word.n), word) &&
	       (i == word.n || !is_word(s.p[i - word.n - 1]));
}

/* Is the '(' at i a list of parameters? Not: (anonymous namespace), Go's pkg.(*T).m, decltype(x), "name (file:1)". */
static bool is_parameters(struct str s, size_t i)
{
	if (i == 0 || s.p[i - 1] == ' ' || s.p[i - 1] == '.' || s.p[i - 1] == '(')
		return false;
	if (str_starts(str_from(s, i), STR("(anonymous ")) || str_starts(str_from(s, i), STR("(anonymous)")))
		return false;
	return !word_before(s, i, STR("decltype")) && !word_before(s, i, STR("noexcept"));
}

/* Length of the qualifiers that may stand behind parameters: " const", " &&", ... */
static size_t skip_qualifiers(struct str s)
{
	static const struct str words[] = { STR(" const"), STR(" volatile"), STR(" noexcept"), STR(" &&"),
					    STR(" &"),     STR("&&"),        STR("&") };
	size_t n = 0, before;

	do {
		before = n;
		for (size_t i = 0; i < countof(words); i++) {
			struct str rest = str_from(s, n);
			size_t len = words[i].n;

			if (str_starts(rest, words[i]) && (rest.n == len || !is_word(rest.p[len])))
				n += len;
		}
	} while (n > before);
	return n;
}

/* Behind the qualifiers: does the name end here? Notes of compilers about clones, constraints and Swift's results do
 * not belong to it. */
static bool is_end(struct str s)
{
	static const struct str notes[] = { STR(" [clone "), STR(" (."), STR(" requires "), STR(" -> ") };

	for (size_t i = 0; i < countof(notes); i++)
		if (str_starts(s, notes[i]))
			return true;
	return s.n == 0;
}

/* A function that takes or returns a pointer to a function in the middle of its name: "void (*f(int))(char)". */
static bool has_function_pointer(struct str s)
{
	for (size_t i = 0; i + 2 < s.n; i++) {
		if (s.p[i] == '<' || s.p[i] == '(' || s.p[i] == '{' || s.p[i] == '[') {
			size_t end = operator_at(s, i) ? 0 : skip_group(s, i);

			if (end == 0)
				return false;
			i = end - 1;
		} else if (s.p[i] == ' ' && s.p[i + 1] == '(' && (s.p[i + 2] == '*' || s.p[i + 2] == '&')) {
			return true;
		}
	}
	return false;
}

/* The return type that demanglers print for templates: up to the last blank outside of brackets, "operator new"
 * aside. Not for "virtual thunk to X", "guard variable for X". */
static size_t return_type(struct str s)
{
	size_t from = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (operator_at(s, i))
			break;
		if (s.p[i] == '(' || s.p[i] == '<' || s.p[i] == '{' || s.p[i] == '[') {
			size_t end = skip_group(s, i);

			if (end == 0)
				return 0;
			i = end - 1;
		} else if (s.p[i] == ' ') {
			struct str word = str_head(s, i);

			if (str_ends(word, STR(" to")) || str_ends(word, STR(" for")))
				return 0;
			from = i + 1;
		}
	}
	return from;
}

void cxx_name(struct text *out, struct str s, bool typed)
{
	size_t from = out->n, cut;
	bool parameters = false;
	ptrdiff_t clone = str_find_str(s, STR(" [clone "));

	if (clone > 0)
		s.n = (size_t)clone;
	if (str_find(s, '(') < 0 || has_function_pointer(s)) {
		text_str(out, s);
		return;
	}
	for (size_t i = 0; i < s.n;) {
		size_t end = 0;

		if (operator_at(s, i)) {
			end = i + 8 + operator_token(str_from(s, i + 8));
		} else if (s.p[i] == '(' || s.p[i] == '<' || s.p[i] == '{' || s.p[i] == '[') {
			end = skip_group(s, i);
			if (end == 0)
				end = s.n;
			else if (s.p[i] == '(' && is_parameters(s, i)) {
				struct str after = str_from(s, end);
				size_t qualifiers = skip_qualifiers(after);

				after = str_from(after, qualifiers);
				parameters = true;
				if (is_end(after))
					break;
				/* a lambda or class of a const method: "f() const::{lambda()#1}" */
				i = end + (str_starts(after, STR("::")) ? qualifiers : 0);
				continue;
			}
		} else {
			end = i + 1;
		}
		text_bytes(out, s.p + i, end - i);
		i = end;
	}
	if (!parameters || !typed)
		return;
	cut = return_type((struct str){ out->p + from, out->n - from });
	memmove(out->p + from, out->p + from + cut, out->n - from - cut);
	out->n -= cut;
}
