/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/samples/inputerrors.h"

#include <stdarg.h>
#include <stdio.h>

void inputerrors_note(struct input_errors *errors, uint64_t n, const char *fmt, ...)
{
	va_list args;

	if (n && errors->n == 0) {
		va_start(args, fmt);
		vsnprintf(errors->first, sizeof(errors->first), fmt, args);
		va_end(args);
	}
	errors->n += n;
}

void inputerrors_add(struct input_errors *errors, const struct input_errors *from)
{
	inputerrors_note(errors, from->n, "%s", from->first);
}
