/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - parses JSON in responses of servers, and writes strings in JSON form.
 *
 * The module hides jansson. A value that is absent or has another type is NULL or false, so an access such as
 * "_items[3]._status" needs no intermediate checks. The input is untrusted: the parser limits depth and numbers, http.h
 * limits the size.
 *
 *	struct jv *v = jv_parse(reply.body, &why);
 *	if (jv_str(jv_get(jv_at(jv_get(v, "_items"), 3), "_status"), &status)) ...
 *	jv_free(v);
 */
#ifndef PJ_JSON_H
#define PJ_JSON_H

#include "common/text.h"

struct jv;

/* Parses a JSON text. Returns NULL on failure, with the reason in *why (valid until the next call). Always fails if
 * jansson is not built in. */
struct jv *jv_parse(struct str string, const char **why);
/* Frees a value returned by jv_parse. NULL is allowed. */
void jv_free(struct jv *value);

/* jv_get returns the member `key` of an object, jv_at element i of an array; NULL if it is absent or value has another
 * type. value may be NULL. */
const struct jv *jv_get(const struct jv *value, const char *key);
const struct jv *jv_at(const struct jv *value, size_t i);
/* Returns the number of elements of an array; 0 if value is not an array. */
size_t jv_count(const struct jv *value);
bool jv_is_array(const struct jv *value);

/* Returns true and sets *string if value is a string; *string lives as long as value. */
bool jv_str(const struct jv *value, struct str *string);
/* Returns true and sets *n if value is an integer of 0 or more: accepts 3 and 3.0, but not -3, 3.5 or "3". */
bool jv_u64(const struct jv *value, uint64_t *n);
/* Returns true if value is the JSON literal `true`. */
bool jv_true(const struct jv *value);

/* Calls `each` for each member of an object, until it returns false. Returns false if `each` returned false, else
 * true; true, too, if value is not an object. */
bool jv_each(const struct jv *value, bool (*each)(void *to, struct str key, const struct jv *value), void *to);

/* Returns the length of the longest prefix of `string` that is printable ASCII without the characters a and b. */
size_t ascii_run(struct str string, char a, char b);

/* Appends `string` as a JSON string with quotes. The output is valid UTF-8: invalid bytes and surrogates become
 * U+FFFD. */
void json_quote(struct text *text, struct str string);

/* Appends `string` without quotes. The output is valid UTF-8: invalid bytes and surrogates become U+FFFD. */
void utf8_mend(struct text *text, struct str string);

#endif
