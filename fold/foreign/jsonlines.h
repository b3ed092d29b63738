/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonlines.h - parses a JSON text line by line, and reports each value with its path.
 *
 * Tokens of JSON never extend over lines, so each line is scanned alone; only depth and keys are kept. The owner lists
 * the keys that it uses, each with a letter. A path has one letter for each level of nesting: '/' the root object, '-'
 * an element of an array, '?' any other key. "/e-n" is the member n of the elements of the array e. Levels beyond
 * JSONLINES_DEPTH have no letters. Text that is no JSON causes unexpected values, never an error: the owner counts
 * those that it expects.
 */
#ifndef PJ_JSONLINES_H
#define PJ_JSONLINES_H

#include "common/text.h"

#define JSONLINES_DEPTH 31

/* A key of JSON objects, and the letter for it in paths. */
struct jsonlines_key {
	struct str name;
	char letter;
};

enum jsonlines_event { JSONLINES_OPEN, JSONLINES_CLOSE, JSONLINES_STRING, JSONLINES_WORD };

struct jsonlines;

/* Called for each object or array that opens or closes, and for each string, number, true, false and null. value: the
 * text of the string, with its escapes, or of the other word; empty for objects and arrays. */
typedef void jsonlines_call(void *owner, struct jsonlines *json, enum jsonlines_event event, struct str value);

struct jsonlines {
	const struct jsonlines_key *keys;
	size_t nkeys;
	jsonlines_call *call;
	void *owner;
	/* ---- valid during a call of the owner ---- */
	char path[JSONLINES_DEPTH + 2]; /* path of the value, ended by NUL */
	struct str key; /* key of the value, with escapes; empty: an element of an array, or its key was on an earlier
			   line */
	/* ---- private ---- */
	size_t depth;
	bool object[JSONLINES_DEPTH + 1];
	bool has_key; /* a key has been read, its value has not */
	char letter;  /* letter of that key */
};

/* Parses one line, and calls json->call for its values. */
void jsonlines_line(struct jsonlines *json, struct str line);

/* Appends a JSON string with its escapes decoded, in UTF-8; invalid escapes are copied unchanged. */
void jsonlines_decode(struct text *to, struct str string);

#endif
