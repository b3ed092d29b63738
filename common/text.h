/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - bytes that are being put together.
 *
 * The zero value is empty. There is no failure to check. What is appended is never interpreted here: escaping is who
 * writes it (svg/format/xml.h, fold/names/names.h).
 */
#ifndef PJ_TEXT_H
#define PJ_TEXT_H

#include "common/str.h"

struct text {
	char *p;
	size_t n;
	size_t cap;
};

void text_reserve(struct text *t, size_t more); /* makes room for that many bytes */
void text_bytes(struct text *t, const void *p, size_t n);
void text_str(struct text *t, struct str s);
void text_add(struct text *t, const char *s); /* a C string */
void text_u64(struct text *t, uint64_t value);
void text_grouped(struct text *t, uint64_t value); /* 1,234,567 */
void text_tenths(struct text *t, int64_t value);   /* value / 10 in as few bytes as SVG needs: 12 -.5 3.4 */
void text_rgb(struct text *t, uint32_t rgb);       /* #rrggbb */
void text_printf(struct text *t, const char *fmt, ...) PRINTF(2, 3);
void text_free(struct text *t);

static inline void text_char(struct text *t, char c)
{
	if (t->n == t->cap)
		text_reserve(t, 1);
	t->p[t->n++] = c;
}

/* What was put together so far; valid until the next change. */
static inline struct str text_view(const struct text *t)
{
	return (struct str){ t->p, t->n };
}

#endif
