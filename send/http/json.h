/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - JSON in responses of servers, as values that may be absent; and strings in JSON form.
 *
 * Hides jansson. A value that is absent or of another type is NULL or false, so an access such as "_items[3]._status"
 * needs no intermediate checks. Input is untrusted: the parser limits depth and numbers, http.h limits the size.
 *
 *	struct jv *v = jv_parse(reply.body, &why);
 *	if (jv_str(jv_get(jv_at(jv_get(v, "_items"), 3), "_status"), &status)) ...
 *	jv_free(v);
 */
#ifndef PJ_JSON_H
#define PJ_JSON_H

#include "common/text.h"

struct jv;

/* Parses a JSON text. Returns NULL and the reason in *why (static, or valid until the next call). Always fails if
 * jansson is not built in. */
struct jv *jv_parse(struct str string, const char **why);
/* Frees the result of jv_parse. NULL is allowed. */
void jv_free(struct jv *value);

/* Return a member of an object, or an element of an array; NULL if it is absent. value may be NULL. */
const struct jv *jv_get(const struct jv *value, const char *key);
const struct jv *jv_at(const struct jv *value, size_t i);
/* Returns the number of elements of an array; 0 if value is not an array. */
size_t jv_count(const struct jv *value);
bool jv_is_array(const struct jv *value);

/* Store the value and return true if it has the type in the function's name. Strings live as long as value. */
bool jv_str(const struct jv *value, struct str *string);
/* Accepts 3 and 3.0, but not -3, 3.5 or "3". */
bool jv_u64(const struct jv *value, uint64_t *n);
bool jv_true(const struct jv *value);

/* Calls `each` for the members of an object until it returns false. Returns false in that case, else true. */
bool jv_each(const struct jv *value, bool (*each)(void *to, struct str key, const struct jv *value), void *to);

/* Returns the length of the longest prefix of string that is printable ASCII and contains neither of the characters a
 * and b. */
size_t ascii_run(struct str string, char a, char b);

/* Appends string as a JSON string in quotes, always as valid UTF-8: invalid bytes and surrogates become U+FFFD. */
void json_quote(struct text *text, struct str string);

/* Appends string without quotes, as valid UTF-8: invalid bytes and surrogates become U+FFFD. */
void utf8_mend(struct text *text, struct str string);

#endif
