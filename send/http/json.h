/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - answers of servers that are JSON, as values that may not be there; and strings as JSON has them.
 *
 * Hides jansson. A value that is missing or of another kind is NULL, or false, so who asks for "_items[3]._status" of
 * whatever a server sent needs no check in between. Nothing is trusted: depth and numbers are bounded by the parser,
 * size by http.h.
 */
#ifndef PJ_JSON_H
#define PJ_JSON_H

#include "common/text.h"

struct jv;

/* NULL: *why (static, or until the next call) says what is wrong. Built without jansson that is always so. */
struct jv *jv_parse(struct str string, const char **why);
void jv_free(struct jv *value); /* of jv_parse; NULL does nothing */

/* Part of value, which may be NULL. */
const struct jv *jv_get(const struct jv *value, const char *key);
const struct jv *jv_at(const struct jv *value, size_t i);
size_t jv_count(const struct jv *value); /* of an array; of what is none 0 */
bool jv_is_array(const struct jv *value);

/* False: it is not one. Strings live as long as value. */
bool jv_str(const struct jv *value, struct str *string);
bool jv_u64(const struct jv *value, uint64_t *n); /* 3 and 3.0, no -3, no 3.5, no "3" */
bool jv_true(const struct jv *value);

/* All members of an object, until `each` returns false; that, or true. */
bool jv_each(const struct jv *value, bool (*each)(void *to, struct str key, const struct jv *value), void *to);

/* How many bytes string begins with that are printable ASCII, and neither a nor b. */
size_t ascii_run(struct str string, char a, char b);

/* Appends string in quotes. Always valid UTF-8: what is none becomes U+FFFD, as do the halves of surrogate pairs. */
void json_quote(struct text *text, struct str string);

/* Appends string, made valid as above, without quotes. */
void utf8_mend(struct text *text, struct str string);

#endif
