/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/samples/inputerrors.h"

#include <stdarg.h>
#include <stdio.h>

void damage_note(struct damage *d, uint64_t n, const char *fmt, ...)
{
	va_list args;

	if (n && d->n == 0) {
		va_start(args, fmt);
		vsnprintf(d->first, sizeof(d->first), fmt, args);
		va_end(args);
	}
	d->n += n;
}

void damage_add(struct damage *d, const struct damage *from)
{
	damage_note(d, from->n, "%s", from->first);
}
