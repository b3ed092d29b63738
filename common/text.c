/* SPDX-License-Identifier: Apache-2.0 */
#include "common/text.h"

#include "common/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void text_reserve(struct text *t, size_t more)
{
	if (t->cap - t->n >= more)
		return;
	size_t cap = t->cap ? t->cap * 2 : 256;
	while (cap - t->n < more)
		cap *= 2;
	t->p = mem_grow(t->p, 1, cap);
	t->cap = cap;
}

void text_bytes(struct text *t, const void *p, size_t n)
{
	if (n == 0)
		return;
	text_reserve(t, n);
	memcpy(t->p + t->n, p, n);
	t->n += n;
}

void text_str(struct text *t, struct str s)
{
	text_bytes(t, s.p, s.n);
}

void text_add(struct text *t, const char *s)
{
	text_bytes(t, s, strlen(s));
}

/* Digits of value, most significant first, with sep before every group of three (0: none). */
static void text_put_number(struct text *t, uint64_t value, char sep)
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
	text_bytes(t, buf + at, sizeof(buf) - at);
}

void text_u64(struct text *t, uint64_t value)
{
	text_put_number(t, value, 0);
}

void text_grouped(struct text *t, uint64_t value)
{
	text_put_number(t, value, ',');
}

void text_tenths(struct text *t, int64_t value)
{
	uint64_t v = value < 0 ? -(uint64_t)value : (uint64_t)value;

	if (value < 0)
		text_char(t, '-');
	if (v >= 10 || v == 0)
		text_u64(t, v / 10);
	if (v % 10) {
		text_char(t, '.');
		text_char(t, (char)('0' + v % 10));
	}
}

void text_rgb(struct text *t, uint32_t rgb)
{
	static const char hex[] = "0123456789abcdef";

	text_char(t, '#');
	for (int shift = 20; shift >= 0; shift -= 4)
		text_char(t, hex[(rgb >> shift) & 15]);
}

void text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap, again;

	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n > 0) {
		text_reserve(t, (size_t)n + 1);
		vsnprintf(t->p + t->n, (size_t)n + 1, fmt, again);
		t->n += (size_t)n;
	}
	va_end(again);
}

void text_free(struct text *t)
{
	free(t->p);
	*t = (struct text){ 0 };
}
