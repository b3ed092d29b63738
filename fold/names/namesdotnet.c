/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/names/languages.h"

bool dotnet_name(struct text *out, struct str string)
{
	ptrdiff_t open = str_find(string, '['), close = str_find_str(string, STR("] ")), tier;

	if (open < 0 || close < open || str_find_str(str_from(string, (size_t)close), STR("::")) < 0)
		return false;
	string = str_from(string, (size_t)close + 2);
	tier = str_rfind(string, '[');
	if (tier > 0 && string.p[string.n - 1] == ']')
		string.n = (size_t)tier;
	text_str(out, str_cut(&string, '('));
	return true;
}
