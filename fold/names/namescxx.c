/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/names/languages.h"

/* ---- brackets and operators --------------------------------------------------------------------------------- */

/* Returns the length of the operator token at the start of `string`, the text after the word "operator". Finds only
 * tokens with brackets, '<', '>' or a comma; returns 0 if there is none of them. */
static size_t operator_token(struct str string)
{
	static const struct str tokens[] = { STR("->*"), STR("<=>"), STR("<<="), STR(">>="), STR("()"),
					     STR("[]"),  STR("->"),  STR("<<"),  STR(">>"),  STR("<="),
					     STR(">="),  STR("<"),   STR(">"),   STR(",") };

	for (size_t i = 0; i < countof(tokens); i++)
		if (str_starts(string, tokens[i]))
			return tokens[i].n;
	return 0;
}

static bool operator_at(struct str string, size_t i)
{
	return string.p[i] == 'o' && str_starts(str_from(string, i), STR("operator")) &&
	       (i == 0 || !is_word(string.p[i - 1])) && (i + 8 == string.n || !is_word(string.p[i + 8]));
}

/* Returns the index after the bracket that closes the bracket at index i; 0 if it is not closed. Skips brackets in
 * names of operators. */
static size_t skip_group(struct str string, size_t i)
{
	size_t depth = 0;

	for (; i < string.n; i++) {
		char byte = string.p[i];

		if (operator_at(string, i))
			i += 7 + operator_token(str_from(string, i + 8));
		else if (byte == '(' || byte == '<' || byte == '{' || byte == '[')
			depth++;
		else if (byte == ')' || byte == '}' || byte == ']' || (byte == '>' && string.p[i - 1] != '-'))
			depth--;
		if (depth == 0)
			return i + 1;
	}
	return 0;
}

/* ---- C++ symbols -------------------------------------------------------------------------------------------- */

static bool word_before(struct str string, size_t i, struct str word)
{
	return i >= word.n && str_eq(str_head(str_from(string, i - word.n), word.n), word) &&
	       (i == word.n || !is_word(string.p[i - word.n - 1]));
}

/* Returns true if the '(' at index i begins a list of parameters; false for (anonymous namespace), pkg.(*T).m of Go,
 * decltype(x) and "name (file:1)". */
static bool is_parameters(struct str string, size_t i)
{
	if (i == 0 || string.p[i - 1] == ' ' || string.p[i - 1] == '.' || string.p[i - 1] == '(')
		return false;
	if (str_starts(str_from(string, i), STR("(anonymous ")) || str_starts(str_from(string, i), STR("(anonymous)")))
		return false;
	return !word_before(string, i, STR("decltype")) && !word_before(string, i, STR("noexcept"));
}

/* Returns the length of the qualifiers at the start of `string`, the text after the parameters: " const", " &&", ... */
static size_t skip_qualifiers(struct str string)
{
	static const struct str words[] = { STR(" const"), STR(" volatile"), STR(" noexcept"), STR(" &&"),
					    STR(" &"),     STR("&&"),        STR("&") };
	size_t n = 0, before;

	do {
		before = n;
		for (size_t i = 0; i < countof(words); i++) {
			struct str rest = str_from(string, n);
			size_t len = words[i].n;

			if (str_starts(rest, words[i]) && (rest.n == len || !is_word(rest.p[len])))
				n += len;
		}
	} while (n > before);
	return n;
}

/* Returns true if `string`, the text after parameters and qualifiers, does not belong to the name: it is empty, a note
 * of the compiler on a clone, a C++ constraint, or a result type of Swift. Otherwise returns false. */
static bool is_end(struct str string)
{
	static const struct str notes[] = { STR(" [clone "), STR(" (."), STR(" requires "), STR(" -> ") };

	for (size_t i = 0; i < countof(notes); i++)
		if (str_starts(string, notes[i]))
			return true;
	return string.n == 0;
}

/* Returns true for a function that takes or returns a function pointer, so that its name is in the middle of the
 * symbol: "void (*f(int))(char)". Returns false for all other functions. */
static bool has_function_pointer(struct str string)
{
	for (size_t i = 0; i + 2 < string.n; i++) {
		if (string.p[i] == '<' || string.p[i] == '(' || string.p[i] == '{' || string.p[i] == '[') {
			size_t end = operator_at(string, i) ? 0 : skip_group(string, i);

			if (end == 0)
				return false;
			i = end - 1;
		} else if (string.p[i] == ' ' && string.p[i + 1] == '(' &&
			   (string.p[i + 2] == '*' || string.p[i + 2] == '&')) {
			return true;
		}
	}
	return false;
}

/* Returns the length of the return type, which demanglers print before the names of templates. It ends with the last
 * blank outside of brackets and before an operator. Returns 0 if there is none, as in "virtual thunk to X" and "guard
 * variable for X". */
static size_t return_type(struct str string)
{
	size_t from = 0;

	for (size_t i = 0; i < string.n; i++) {
		if (operator_at(string, i))
			break;
		if (string.p[i] == '(' || string.p[i] == '<' || string.p[i] == '{' || string.p[i] == '[') {
			size_t end = skip_group(string, i);

			if (end == 0)
				return 0;
			i = end - 1;
		} else if (string.p[i] == ' ') {
			struct str word = str_head(string, i);

			if (str_ends(word, STR(" to")) || str_ends(word, STR(" for")))
				return 0;
			from = i + 1;
		}
	}
	return from;
}

void cxx_name(struct text *out, struct str string, bool typed)
{
	size_t from = out->n, cut;
	bool parameters = false;
	ptrdiff_t clone = str_find_str(string, STR(" [clone "));

	if (clone > 0)
		string.n = (size_t)clone;
	if (str_find(string, '(') < 0 || has_function_pointer(string)) {
		text_str(out, string);
		return;
	}
	for (size_t i = 0; i < string.n;) {
		size_t end = 0;

		if (operator_at(string, i)) {
			end = i + 8 + operator_token(str_from(string, i + 8));
		} else if (string.p[i] == '(' || string.p[i] == '<' || string.p[i] == '{' || string.p[i] == '[') {
			end = skip_group(string, i);
			if (end == 0)
				end = string.n;
			else if (string.p[i] == '(' && is_parameters(string, i)) {
				struct str after = str_from(string, end);
				size_t qualifiers = skip_qualifiers(after);

				after = str_from(after, qualifiers);
				parameters = true;
				if (is_end(after))
					break;
				/* These parameters belong to an outer const method, in whose body the lambda or class
				 * is: "f() const::{lambda()#1}". */
				i = end + (str_starts(after, STR("::")) ? qualifiers : 0);
				continue;
			}
		} else {
			end = i + 1;
		}
		text_bytes(out, string.p + i, end - i);
		i = end;
	}
	if (!parameters || !typed)
		return;
	cut = return_type((struct str){ out->p + from, out->n - from });
	memmove(out->p + from, out->p + from + cut, out->n - from - cut);
	out->n -= cut;
}
