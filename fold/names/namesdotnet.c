/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/names/languages.h"

bool dotnet_name(struct text *out, struct str s)
{
	ptrdiff_t open = str_find(s, '['), close = str_find_str(s, STR("] ")), tier;

	if (open < 0 || close < open || str_find_str(str_from(s, (size_t)close), STR("::")) < 0)
		return false;
	s = str_from(s, (size_t)close + 2);
	tier = str_rfind(s, '[');
	if (tier > 0 && s.p[s.n - 1] == ']')
		s.n = (size_t)tier;
	text_str(out, str_cut(&s, '('));
	return true;
}
