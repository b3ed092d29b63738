/* SPDX-License-Identifier: Apache-2.0 */
#include "send/http/json.h"

/* Returns the length in bytes of the UTF-8 character at the start of `string`, which is not empty; 0 if the bytes are
 * not valid UTF-8 (Unicode, table 3-7). */
static size_t utf8_length(struct str string)
{
	const unsigned char *p = (const unsigned char *)string.p;
	unsigned char low = 0x80, high = 0xBF;
	size_t n;

	if (p[0] < 0x80)
		return 1;
	n = p[0] >= 0xC2 && p[0] <= 0xDF ? 2 : (p[0] & 0xF0) == 0xE0 ? 3 : p[0] >= 0xF0 && p[0] <= 0xF4 ? 4 : 0;
	if (!n || string.n < n)
		return 0;
	if (p[0] == 0xE0)
		/* second byte from 0xA0: lower values are overlong forms */
		low = 0xA0;
	else if (p[0] == 0xED)
		/* second byte up to 0x9F: higher values are surrogates */
		high = 0x9F;
	else if (p[0] == 0xF0)
		low = 0x90;
	else if (p[0] == 0xF4)
		/* second byte up to 0x8F: higher values are beyond U+10FFFF */
		high = 0x8F;
	if (p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((p[i] & 0xC0) != 0x80)
			return 0;
	return n;
}

/* number of bytes that ascii_run tests at once; the compiler uses vector instructions for them */
#define STRIDE 32

static bool is_run(const char *p, size_t n, unsigned char a, unsigned char b)
{
	unsigned char other = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char byte = (unsigned char)p[i];

		other |= (unsigned char)((byte < ' ') | (byte >= 0x7F) | (byte == a) | (byte == b));
	}
	return !other;
}

size_t ascii_run(struct str string, char a, char b)
{
	size_t n = 0;

	while (string.n - n >= STRIDE && is_run(string.p + n, STRIDE, (unsigned char)a, (unsigned char)b))
		n += STRIDE;
	while (n < string.n && is_run(string.p + n, 1, (unsigned char)a, (unsigned char)b))
		n++;
	return n;
}

void utf8_mend(struct text *text, struct str string)
{
	while (string.n) {
		size_t n = ascii_run(string, 0, 0);

		if (!n)
			n = utf8_length(string);
		if (n)
			text_bytes(text, string.p, n);
		else
			text_add(text, "\xEF\xBF\xBD");
		string = str_from(string, n ? n : 1);
	}
}

void json_quote(struct text *text, struct str string)
{
	text_char(text, '"');
	while (string.n) {
		size_t plain = ascii_run(string, '"', '\\'), n;

		text_bytes(text, string.p, plain);
		string = str_from(string, plain);
		if (!string.n)
			break;
		n = utf8_length(string);
		if (n > 1)
			text_bytes(text, string.p, n);
		else if (n == 0)
			text_add(text, "\xEF\xBF\xBD");
		else if (*string.p == '"' || *string.p == '\\')
			text_printf(text, "\\%c", *string.p);
		else
			text_printf(text, "\\u%04x", (unsigned char)*string.p);
		string = str_from(string, n ? n : 1);
	}
	text_char(text, '"');
}

#ifdef PJ_JANSSON

#include <jansson.h>
#include <math.h>

static const json_t *json_handle(const struct jv *value)
{
	return (const json_t *)(const void *)value;
}

static const struct jv *json_ours(const json_t *json)
{
	return (const struct jv *)(const void *)json;
}

struct jv *jv_parse(struct str string, const char **why)
{
	static char reason[JSON_ERROR_TEXT_LENGTH + 64];
	json_error_t e;
	json_t *json = json_loadb(string.n ? string.p : "", string.n, JSON_ALLOW_NUL, &e);

	if (!json) {
		snprintf(reason, sizeof(reason), "not JSON at byte %d: %s", e.position, e.text);
		*why = reason;
	}
	return (struct jv *)(void *)json;
}

void jv_free(struct jv *value)
{
	json_decref((json_t *)(void *)value);
}

const struct jv *jv_get(const struct jv *value, const char *key)
{
	return json_ours(json_object_get(json_handle(value), key));
}

const struct jv *jv_at(const struct jv *value, size_t i)
{
	return json_ours(json_array_get(json_handle(value), i));
}

size_t jv_count(const struct jv *value)
{
	return json_array_size(json_handle(value));
}

bool jv_is_array(const struct jv *value)
{
	return value && json_is_array(json_handle(value));
}

bool jv_str(const struct jv *value, struct str *string)
{
	if (!value || !json_is_string(json_handle(value)))
		return false;
	*string = (struct str){ json_string_value(json_handle(value)), json_string_length(json_handle(value)) };
	return true;
}

bool jv_u64(const struct jv *value, uint64_t *n)
{
	double d;

	if (value && json_is_integer(json_handle(value)) && json_integer_value(json_handle(value)) >= 0) {
		*n = (uint64_t)json_integer_value(json_handle(value));
		return true;
	}
	if (!value || !json_is_real(json_handle(value)))
		return false;
	d = json_real_value(json_handle(value));
	if (!(d >= 0 && d < 9007199254740992.0) || d != floor(d))
		return false;
	*n = (uint64_t)d;
	return true;
}

bool jv_true(const struct jv *value)
{
	return value && json_is_true(json_handle(value));
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
	*why = "built without jansson: install libjansson-dev and rebuild";
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
