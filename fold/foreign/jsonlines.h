/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonlines.h - values of a JSON text by their path, line by line.
 *
 * Tokens of JSON never extend over lines, so each line is scanned alone; only depth and keys are kept. The owner lists
 * the keys that it uses, each with a letter; a path has a letter a level: '/' the root object, '-' an element of an
 * array, '?' any other key. "/e-n" is the member n of the elements of the array e. Levels beyond JSONLINES_DEPTH have
 * no letters. Text that is no JSON gives strange values, never an error: the owner counts what it expects.
 */
#ifndef PJ_JSONLINES_H
#define PJ_JSONLINES_H

#include "common/text.h"

#define JSONLINES_DEPTH 31

/* A key and its letter in paths. */
struct jsonlines_key {
	struct str name;
	char letter;
};

enum jsonlines_event { JSONLINES_OPEN, JSONLINES_CLOSE, JSONLINES_STRING, JSONLINES_WORD };

struct jsonlines;

/* Called for each object or array that opens or closes, and for each string, number, true, false and null. value: of a
 * string, with its escapes; empty for objects and arrays. */
typedef void jsonlines_call(void *owner, struct jsonlines *json, enum jsonlines_event event, struct str value);

struct jsonlines {
	const struct jsonlines_key *keys;
	size_t nkeys;
	jsonlines_call *call;
	void *owner;
	/* ---- for the owner, during a call ---- */
	char path[JSONLINES_DEPTH + 2]; /* ends in NUL */
	struct str key; /* of the value, with escapes; empty: an element, or its key was on an earlier line */
	/* ---- own ---- */
	size_t depth;
	bool object[JSONLINES_DEPTH + 1];
	bool has_key; /* a value follows */
	char letter;  /* of the key before it */
};

/* Scans one line. */
void jsonlines_line(struct jsonlines *json, struct str line);

/* Appends a string without its escapes, in UTF-8; invalid escapes stay as they are. */
void jsonlines_decode(struct text *to, struct str string);

#endif
