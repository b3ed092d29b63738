/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/samples/inputerrors.h"

#include <stdarg.h>
#include <stdio.h>

void inputerrors_note(struct input_errors *d, uint64_t n, const char *fmt, ...)
{
	va_list args;

	if (n && d->n == 0) {
		va_start(args, fmt);
		vsnprintf(d->first, sizeof(d->first), fmt, args);
		va_end(args);
	}
	d->n += n;
}

void inputerrors_add(struct input_errors *d, const struct input_errors *from)
{
	inputerrors_note(d, from->n, "%s", from->first);
}
