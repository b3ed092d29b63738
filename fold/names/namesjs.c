/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/names/languages.h"

bool v8_name(struct text *out, struct str string, enum names_kind *kind)
{
	static const struct str prefixes[] = { STR("LazyCompile:"), STR("JS:"), STR("Function:"), STR("Script:"),
					       STR("Eval:") };

	for (size_t i = 0; i < countof(prefixes); i++) {
		struct str rest;

		if (!str_starts(string, prefixes[i]))
			continue;
		rest = str_from(string, prefixes[i].n);
		if (rest.n && memchr("*~^+", rest.p[0], 4)) {
			*kind = rest.p[0] == '~' ? KIND_INTERPRETED : KIND_JIT;
			rest = str_from(rest, 1);
		}
		if (rest.n && rest.p[0] == ' ')
			text_str(out, STR("(anonymous)"));
		text_str(out, rest);
		return true;
	}
	return false;
}
