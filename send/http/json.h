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
struct jv *jv_parse(struct str s, const char **why);
void jv_free(struct jv *v); /* of jv_parse; NULL does nothing */

/* Part of v, which may be NULL. */
const struct jv *jv_get(const struct jv *v, const char *key);
const struct jv *jv_at(const struct jv *v, size_t i);
size_t jv_count(const struct jv *v); /* of an array; of what is none 0 */
bool jv_is_array(const struct jv *v);

/* False: it is not one. Strings live as long as v. */
bool jv_str(const struct jv *v, struct str *s);
bool jv_u64(const struct jv *v, uint64_t *n); /* 3 and 3.0, no -3, no 3.5, no "3" */
bool jv_true(const struct jv *v);

/* All members of an object, until `each` returns false; that, or true. */
bool jv_each(const struct jv *v, bool (*each)(void *to, struct str key, const struct jv *value), void *to);

/* How many bytes s begins with that are printable ASCII, and neither a nor b. */
size_t ascii_run(struct str s, char a, char b);

/* Appends s in quotes. Always valid UTF-8: what is none becomes U+FFFD, as do the halves of surrogate pairs. */
void json_quote(struct text *t, struct str s);

/* Appends s, made valid as above, without quotes. */
void utf8_mend(struct text *t, struct str s);

#endif
