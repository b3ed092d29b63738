/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonlines.h - parses JSON text line by line, and passes each value with its path to a function of the owner.
 *
 * No JSON token extends over several lines, so each line is scanned alone; only depth and keys are stored between
 * lines. The owner lists the keys that it uses, with a letter for each. A path has one letter for each level of
 * nesting: '/' is the root object, '-' an element of an array, '?' a key that is not in the list. "/e-n" is the member
 * n of the elements of the array e. Levels beyond JSONLINES_DEPTH have no letters. Text that is not JSON causes
 * unexpected values, never an error: the owner counts the values that it expects.
 */
#ifndef PJ_JSONLINES_H
#define PJ_JSONLINES_H

#include "common/text.h"

#define JSONLINES_DEPTH 31

/* A key of JSON objects, and its letter in paths. */
struct jsonlines_key {
	struct str name;
	char letter;
};

enum jsonlines_event { JSONLINES_OPEN, JSONLINES_CLOSE, JSONLINES_STRING, JSONLINES_WORD };

struct jsonlines;

/* Function of the owner. It is called for each object or array that opens or closes, and for each string, number, true,
 * false and null. value: text of the string, with its escapes, or of the number or word; empty for objects and arrays.
 */
typedef void jsonlines_call(void *owner, struct jsonlines *json, enum jsonlines_event event, struct str value);

struct jsonlines {
	const struct jsonlines_key *keys;
	size_t nkeys;
	jsonlines_call *call;
	void *owner;
	/* ---- members for the owner's function, valid while it is called ---- */
	char path[JSONLINES_DEPTH + 2]; /* path of the value, ended by NUL */
	struct str key; /* key of the value, its escapes not decoded; empty: array element, or key on an earlier line */
	/* ---- members for jsonlines.c only ---- */
	size_t depth;
	bool object[JSONLINES_DEPTH + 1]; /* by level of nesting: true for an object, false for an array */
	bool has_key;                     /* true if a key has been read whose value has not been read yet */
	char letter;                      /* letter in paths of the key that has been read */
};

/* Parses one line, and calls json->call for its values. */
void jsonlines_line(struct jsonlines *json, struct str line);

/* Appends a JSON string to `to` in UTF-8, with its escapes decoded. Invalid escapes are copied unchanged. */
void jsonlines_decode(struct text *to, struct str string);

#endif
