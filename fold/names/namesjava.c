/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/names/languages.h"

#include "common/javaclass.h"

/* Returns true if the string may be the name of a Java class or method, false if a character is not allowed there. */
static bool is_java_name(struct str string)
{
	if (string.n == 0 || byte_is_digit(string.p[0]))
		return false;
	for (size_t i = 0; i < string.n; i++)
		if (!is_word(string.p[i]) && !memchr("./<>-+", string.p[i], 6))
			return false;
	return true;
}

bool java_name(struct text *out, struct str string)
{
	struct str class = string, method;
	ptrdiff_t semicolon = string.n && string.p[0] == 'L' ? str_find(string, ';') : -1, i;

	if (semicolon > 1) {
		class = str_head(str_from(string, 1), (size_t)semicolon - 1);
		method = str_from(string, (size_t)semicolon + 1);
		if (str_starts(method, STR("::")))
			method = str_from(method, 2);
		else if (str_starts(method, STR(".")))
			method = str_from(method, 1);
		method = str_cut(&method, '(');
	} else {
		struct str head = str_cut(&class, '(');

		i = str_rfind(head, ' ');
		if (i >= 0 && head.n == string.n)
			/* A blank, as after a return type, but no parameters: not a Java method. */
			return false;
		head = str_from(head, (size_t)(i + 1));
		i = str_find_str(head, STR("::"));
		if (i > 0 && str_find_str(str_from(head, (size_t)i + 2), STR("::")) < 0) {
			class = str_head(head, (size_t)i);
			method = str_from(head, (size_t)i + 2);
			if (str_find(class, '.') < 0 && str_find(class, '/') < 0)
				/* "a::b" without a package may be C++. */
				return false;
			if (str_ends(class, STR(".smx")))
				/* A "class" that ends in .smx is a SourcePawn file. */
				return false;
		} else {
			i = str_rfind(head, '.');
			if (i <= 0 || (head.n == string.n && str_find(head, '/') < 0 &&
				       str_find(str_head(head, (size_t)i), '.') < 0))
				return false;
			class = str_head(head, (size_t)i);
			method = str_from(head, (size_t)i + 1);
		}
	}
	if (!is_java_name(class) || method.n == 0 || str_find(method, '/') >= 0 || !is_java_name(method))
		return false;
	java_class(out, class);
	text_char(out, '.');
	text_str(out, method);
	return true;
}
