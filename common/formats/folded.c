/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/folded.h"

#include "common/rounding.h"

#include <stdlib.h>

/* Parses a weight with decimals or an exponent, as other tools write it, and rounds it to the nearest integer. Returns
 * NULL on success, or the reason why string is no weight, a static text. */
static const char *parse_decimal(struct str string, uint64_t *weight)
{
	char text[64], *end;
	double d;

	if (string.n == 0 || string.n >= sizeof(text))
		return "no weight at the end of the line";
	for (size_t i = 0; i < string.n; i++)
		if (!strchr("0123456789.eE+-", string.p[i]))
			return "no weight at the end of the line";
	memcpy(text, string.p, string.n);
	text[string.n] = 0;
	d = strtod(text, &end);
	if (*end || end == text)
		return "no weight at the end of the line";
	if (d < 0)
		return "the weight is negative";
	if (!(d < 9.2e18))
		return "the weight does not fit into 63 bits";
	*weight = (uint64_t)rounded(d);
	return NULL;
}

/* Removes the last word and the blanks before it from *string. Returns the word. */
static struct str last_word(struct str *string)
{
	size_t i = string->n;
	struct str word;

	while (i && string->p[i - 1] != ' ' && string->p[i - 1] != '\t')
		i--;
	word = str_from(*string, i);
	*string = str_trim_right(str_head(*string, i));
	return word;
}

/* Fast path for the form of most lines: stack, one blank, at most 18 digits. Sets *stack and *weight. Returns false for
 * other lines, which folded_parse then parses. */
static bool parse_plain(struct str line, struct str *stack, uint64_t *weight)
{
	size_t i = line.n;
	uint64_t value = 0, unit = 1;

	for (; i && byte_is_digit(line.p[i - 1]) && line.n - i < 18; unit *= 10)
		value += unit * (uint64_t)(line.p[--i] - '0');
	if (i == line.n || i < 2 || line.p[i - 1] != ' ' || byte_is_blank(line.p[i - 2]))
		return false;
	*stack = str_head(line, i - 1);
	*weight = value;
	return true;
}

const char *folded_parse(struct str line, struct str *stack, uint64_t *weight, bool *rounded)
{
	struct str number;
	const char *why = NULL;

	*rounded = false;
	if (parse_plain(line, stack, weight))
		return NULL;
	line = str_trim_right(line);
	number = last_word(&line);
	if (!str_u64(number, weight) || *weight > INT64_MAX) {
		bool digits = number.n > 0;

		for (size_t i = 0; i < number.n; i++)
			digits = digits && byte_is_digit(number.p[i]);
		why = digits ? "the weight does not fit into 63 bits" : parse_decimal(number, weight);
		*rounded = why == NULL;
	}
	if (!why && line.n == 0)
		why = "no stack before the weight";
	*stack = line;
	return why;
}

bool folded_cut_number(struct str *stack, uint64_t *number)
{
	struct str rest = *stack, word;

	/* fast test: a stack that does not end in a digit, as nearly all do, has no second number */
	if (rest.n == 0 || !byte_is_digit(rest.p[rest.n - 1]))
		return false;
	word = last_word(&rest);
	if (rest.n == 0 || !str_u64(word, number) || *number > INT64_MAX)
		return false;
	*stack = rest;
	return true;
}

struct str folded_plain(struct str string)
{
	if (string.n > 4 && string.p[string.n - 1] == ']' && string.p[string.n - 3] == '[' &&
	    string.p[string.n - 4] == '_' && memchr("kji01w", string.p[string.n - 2], 6))
		string.n -= 4;
	return string;
}
