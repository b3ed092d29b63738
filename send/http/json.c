/* SPDX-License-Identifier: Apache-2.0 */
#include "send/http/json.h"

/* Bytes of the character at s, which is not empty; 0: it is none. Unicode, table 3-7. */
static size_t utf8_length(struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	unsigned char low = 0x80, high = 0xBF;
	size_t n;

	if (p[0] < 0x80)
		return 1;
	n = p[0] >= 0xC2 && p[0] <= 0xDF ? 2 : (p[0] & 0xF0) == 0xE0 ? 3 : p[0] >= 0xF0 && p[0] <= 0xF4 ? 4 : 0;
	if (!n || s.n < n)
		return 0;
	if (p[0] == 0xE0)
		low = 0xA0; /* shorter forms */
	else if (p[0] == 0xED)
		high = 0x9F; /* surrogates */
	else if (p[0] == 0xF0)
		low = 0x90;
	else if (p[0] == 0xF4)
		high = 0x8F; /* behind U+10FFFF */
	if (p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((p[i] & 0xC0) != 0x80)
			return 0;
	return n;
}

#define STRIDE 32 /* bytes that are looked at together, by whatever vectors there are */

static bool is_run(const char *p, size_t n, unsigned char a, unsigned char b)
{
	unsigned char other = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];

		other |= (unsigned char)((c < ' ') | (c >= 0x7F) | (c == a) | (c == b));
	}
	return !other;
}

size_t ascii_run(struct str s, char a, char b)
{
	size_t n = 0;

	while (s.n - n >= STRIDE && is_run(s.p + n, STRIDE, (unsigned char)a, (unsigned char)b))
		n += STRIDE;
	while (n < s.n && is_run(s.p + n, 1, (unsigned char)a, (unsigned char)b))
		n++;
	return n;
}

void utf8_mend(struct text *t, struct str s)
{
	while (s.n) {
		size_t n = ascii_run(s, 0, 0);

		if (!n)
			n = utf8_length(s);
		if (n)
			text_bytes(t, s.p, n);
		else
			text_add(t, "\xEF\xBF\xBD");
		s = str_from(s, n ? n : 1);
	}
}

void json_quote(struct text *t, struct str s)
{
	text_char(t, '"');
	while (s.n) {
		size_t plain = ascii_run(s, '"', '\\'), n;

		text_bytes(t, s.p, plain);
		s = str_from(s, plain);
		if (!s.n)
			break;
		n = utf8_length(s);
		if (n > 1)
			text_bytes(t, s.p, n);
		else if (n == 0)
			text_add(t, "\xEF\xBF\xBD");
		else if (*s.p == '"' || *s.p == '\\')
			text_printf(t, "\\%c", *s.p);
		else
			text_printf(t, "\\u%04x", (unsigned char)*s.p);
		s = str_from(s, n ? n : 1);
	}
	text_char(t, '"');
}

#ifdef PJ_JANSSON

#include <jansson.h>
#include <math.h>

static const json_t *json_handle(const struct jv *v)
{
	return (const json_t *)(const void *)v;
}

static const struct jv *json_ours(const json_t *v)
{
	return (const struct jv *)(const void *)v;
}

struct jv *jv_parse(struct str s, const char **why)
{
	static char reason[JSON_ERROR_TEXT_LENGTH + 64];
	json_error_t e;
	json_t *v = json_loadb(s.n ? s.p : "", s.n, JSON_ALLOW_NUL, &e);

	if (!v) {
		snprintf(reason, sizeof(reason), "not JSON at byte %d: %s", e.position, e.text);
		*why = reason;
	}
	return (struct jv *)(void *)v;
}

void jv_free(struct jv *v)
{
	json_decref((json_t *)(void *)v);
}

const struct jv *jv_get(const struct jv *v, const char *key)
{
	return json_ours(json_object_get(json_handle(v), key));
}

const struct jv *jv_at(const struct jv *v, size_t i)
{
	return json_ours(json_array_get(json_handle(v), i));
}

size_t jv_count(const struct jv *v)
{
	return json_array_size(json_handle(v));
}

bool jv_is_array(const struct jv *v)
{
	return v && json_is_array(json_handle(v));
}

bool jv_str(const struct jv *v, struct str *s)
{
	if (!v || !json_is_string(json_handle(v)))
		return false;
	*s = (struct str){ json_string_value(json_handle(v)), json_string_length(json_handle(v)) };
	return true;
}

bool jv_u64(const struct jv *v, uint64_t *n)
{
	double d;

	if (v && json_is_integer(json_handle(v)) && json_integer_value(json_handle(v)) >= 0) {
		*n = (uint64_t)json_integer_value(json_handle(v));
		return true;
	}
	if (!v || !json_is_real(json_handle(v)))
		return false;
	d = json_real_value(json_handle(v));
	if (!(d >= 0 && d < 9007199254740992.0) || d != floor(d))
		return false;
	*n = (uint64_t)d;
	return true;
}

bool jv_true(const struct jv *v)
{
	return v && json_is_true(json_handle(v));
}

bool jv_each(const struct jv *v, bool (*each)(void *to, struct str key, const struct jv *value), void *to)
{
	json_t *object = (json_t *)(uintptr_t)json_handle(v);

	for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at))
		if (!each(to, str_of(json_object_iter_key(at)), json_ours(json_object_iter_value(at))))
			return false;
	return true;
}

#else

struct jv *jv_parse(struct str s, const char **why)
{
	(void)s;
	*why = "built without jansson: install libjansson-dev and build again";
	return NULL;
}

void jv_free(struct jv *v)
{
	(void)v;
}

const struct jv *jv_get(const struct jv *v, const char *key)
{
	(void)v;
	(void)key;
	return NULL;
}

const struct jv *jv_at(const struct jv *v, size_t i)
{
	(void)v;
	(void)i;
	return NULL;
}

size_t jv_count(const struct jv *v)
{
	(void)v;
	return 0;
}

bool jv_is_array(const struct jv *v)
{
	(void)v;
	return false;
}

bool jv_str(const struct jv *v, struct str *s)
{
	(void)v;
	(void)s;
	return false;
}

bool jv_u64(const struct jv *v, uint64_t *n)
{
	(void)v;
	(void)n;
	return false;
}

bool jv_true(const struct jv *v)
{
	(void)v;
	return false;
}

bool jv_each(const struct jv *v, bool (*each)(void *to, struct str key, const struct jv *value), void *to)
{
	(void)v;
	(void)each;
	(void)to;
	return true;
}

#endif
