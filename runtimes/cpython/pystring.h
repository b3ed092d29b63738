/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pystring.h - reads strings and dicts of CPython from hostile memory, as bounded UTF-8.
 */
#ifndef PJ_PYSTRING_H
#define PJ_PYSTRING_H

#include "runtimes/cpython/cpython.h"

/* Bounded text. Bytes that do not fit are dropped, and `cut` is set. */
struct pytext {
	char *to;
	size_t n, cap; /* number of bytes, and maximum number of bytes without the NUL */
	bool cut;
};

void pytext_bytes(struct pytext *text, const char *bytes, size_t n);
/* Appends a code point as UTF-8. NUL, surrogates and numbers beyond Unicode become U+FFFD. */
void pytext_point(struct pytext *text, uint32_t point);
/* Terminates the text with a NUL, after "..." if the text is cut. No code point is split. */
void pytext_end(struct pytext *text);

/* Appends the str at an address as UTF-8. Returns false, with nothing appended, if the object is not a str of the
 * three compact kinds, or is not readable. */
bool pystring_append(struct cpython *cpython, uint64_t address, struct pytext *text);

/* Returns true if the str at an address is the ASCII string `name` (at most 32 bytes); false if it is another one, or
 * no str, or not readable. */
bool pystring_is(struct cpython *cpython, uint64_t address, struct str name);

/* Sets *value to the value of the key `name` in the dict at an address. Returns false if the key is not found, the dict
 * is not readable, or its values are in an array of their own (attributes of an instance). Compares only the first 64
 * keys: __name__ is the first key of a module. */
bool pydict_get(struct cpython *cpython, uint64_t address, struct str name, uint64_t *value);

#endif
