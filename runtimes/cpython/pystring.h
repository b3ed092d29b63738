/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pystring.h - strings and dicts of CPython: from hostile memory to bounded UTF-8.
 */
#ifndef PJ_PYSTRING_H
#define PJ_PYSTRING_H

#include "runtimes/cpython/cpython.h"

/* Bounded text: bytes that do not fit are dropped, and `cut` is set. */
struct pytext {
	char *to;
	size_t n, cap; /* number of bytes, and maximum number without the NUL */
	bool cut;
};

void pytext_bytes(struct pytext *text, const char *bytes, size_t n);
/* Appends one code point in UTF-8; NUL, a surrogate or a number beyond Unicode becomes U+FFFD. */
void pytext_point(struct pytext *text, uint32_t point);
/* Ends the text with a NUL, and with "..." in front of it if it was cut. The cut is at the start of a code point. */
void pytext_end(struct pytext *text);

/* Appends the str at an address in UTF-8. Returns false, with nothing appended, if the object is no str of the three
 * compact kinds, or is not readable. */
bool pystring_append(struct cpython *cpython, uint64_t address, struct pytext *text);

/* Returns true if the str at an address is the ASCII string `name` (at most 32 bytes). */
bool pystring_is(struct cpython *cpython, uint64_t address, struct str name);

/* Sets *value to the value of the key `name` in the dict at an address, or returns false. Only the first 64 keys are
 * compared: modules get __name__ first. */
bool pydict_get(struct cpython *cpython, uint64_t address, struct str name, uint64_t *value);

#endif
