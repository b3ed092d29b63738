/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - a growing buffer of bytes.
 *
 * The zero value is empty. No function fails: the tool ends if memory is not available. Bytes are appended as they are;
 * callers escape them if needed (svg/format/xml.h, fold/names/names.h).
 */
#ifndef PJ_TEXT_H
#define PJ_TEXT_H

#include "common/str.h"

struct text {
	char *p;
	size_t n;
	size_t cap;
};

/* makes space for `more` bytes after the text, whose length does not change */
void text_reserve(struct text *text, size_t more);
void text_bytes(struct text *text, const void *p, size_t n);
void text_str(struct text *text, struct str string);
void text_add(struct text *text, const char *string); /* appends a C string */
void text_u64(struct text *text, uint64_t value);
void text_grouped(struct text *text, uint64_t value); /* appends value in groups of digits: 1,234,567 */
/* appends value / 10 with at most one decimal, in as few bytes as SVG allows: 12, -.5, 3.4 */
void text_tenths(struct text *text, int64_t value);
void text_rgb(struct text *text, uint32_t rgb); /* appends #rrggbb */
void text_printf(struct text *text, const char *fmt, ...) PRINTF(2, 3);
void text_free(struct text *text);

static inline void text_char(struct text *text, char byte)
{
	if (text->n == text->cap)
		text_reserve(text, 1);
	text->p[text->n++] = byte;
}

/* Returns the bytes of the text; valid until the text changes. */
static inline struct str text_view(const struct text *text)
{
	return (struct str){ text->p, text->n };
}

#endif
