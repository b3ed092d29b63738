/* SPDX-License-Identifier: Apache-2.0 */
#include "common/text.h"

#include "common/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void text_reserve(struct text *text, size_t more)
{
	if (text->cap - text->n >= more)
		return;
	size_t cap = text->cap ? text->cap * 2 : 256;
	while (cap - text->n < more)
		cap *= 2;
	text->p = mem_grow(text->p, 1, cap);
	text->cap = cap;
}

void text_bytes(struct text *text, const void *p, size_t n)
{
	if (n == 0)
		return;
	text_reserve(text, n);
	memcpy(text->p + text->n, p, n);
	text->n += n;
}

void text_str(struct text *text, struct str string)
{
	text_bytes(text, string.p, string.n);
}

void text_add(struct text *text, const char *string)
{
	text_bytes(text, string, strlen(string));
}

/* Appends value in decimal digits, with sep between groups of three digits; sep 0: without groups. */
static void text_put_number(struct text *text, uint64_t value, char sep)
{
	char buf[32];
	size_t at = sizeof(buf);
	unsigned digits = 0;

	do {
		if (sep && digits && digits % 3 == 0)
			buf[--at] = sep;
		buf[--at] = (char)('0' + value % 10);
		value /= 10;
		digits++;
	} while (value);
	text_bytes(text, buf + at, sizeof(buf) - at);
}

void text_u64(struct text *text, uint64_t value)
{
	text_put_number(text, value, 0);
}

void text_grouped(struct text *text, uint64_t value)
{
	text_put_number(text, value, ',');
}

void text_tenths(struct text *text, int64_t value)
{
	uint64_t v = value < 0 ? -(uint64_t)value : (uint64_t)value;

	if (value < 0)
		text_char(text, '-');
	if (v >= 10 || v == 0)
		text_u64(text, v / 10);
	if (v % 10) {
		text_char(text, '.');
		text_char(text, (char)('0' + v % 10));
	}
}

void text_rgb(struct text *text, uint32_t rgb)
{
	static const char hex[] = "0123456789abcdef";

	text_char(text, '#');
	for (int shift = 20; shift >= 0; shift -= 4)
		text_char(text, hex[(rgb >> shift) & 15]);
}

void text_printf(struct text *text, const char *fmt, ...)
{
	va_list ap, again;

	va_start(ap, fmt);
	va_copy(again, ap);
	int got = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (got > 0) {
		text_reserve(text, (size_t)got + 1);
		vsnprintf(text->p + text->n, (size_t)got + 1, fmt, again);
		text->n += (size_t)got;
	}
	va_end(again);
}

void text_free(struct text *text)
{
	free(text->p);
	*text = (struct text){ 0 };
}
