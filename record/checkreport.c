/* SPDX-License-Identifier: Apache-2.0 */
#include "record/checkreport.h"

#include <stdio.h>

void checkreport_text(enum verdict verdict, const char *subject, const struct text *text)
{
	static const char *const word[] = { "ok", "limited", "no" };

	printf("%-8s %s: ", word[verdict], subject);
	for (size_t i = 0; i < text->n; i++)
		putchar((unsigned char)text->p[i] < 0x20 || text->p[i] == 0x7F ? '?' : text->p[i]);
	putchar('\n');
}

void checkreport_args(enum verdict verdict, const char *subject, const char *fmt, va_list args)
{
	struct text text = { 0 };
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n > 0) {
		text_reserve(&text, (size_t)n + 1);
		vsnprintf(text.p, (size_t)n + 1, fmt, args);
		text.n = (size_t)n;
	}
	checkreport_text(verdict, subject, &text);
	text_free(&text);
}

void checkreport_line(enum verdict verdict, const char *subject, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	checkreport_args(verdict, subject, fmt, args);
	va_end(args);
}
