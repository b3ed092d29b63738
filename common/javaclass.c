/* SPDX-License-Identifier: Apache-2.0 */
#include "common/javaclass.h"

void java_class(struct text *out, struct str class)
{
	for (size_t i = 0; i < class.n; i++) {
		if ((class.p[i] == '/' || class.p[i] == '+' || class.p[i] == '.') && i + 10 < class.n &&
		    class.p[i + 1] == '0' && class.p[i + 2] == 'x') {
			size_t end = i + 3;

			while (end < class.n && byte_is_hex(class.p[end]))
				end++;
			if (end - i >= 11) {
				i = end - 1;
				continue;
			}
		}
		text_char(out, class.p[i] == '.' ? '/' : class.p[i]);
	}
}
