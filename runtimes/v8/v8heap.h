/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8heap.h - reads objects of V8's heap: tagged words, Smis, maps, strings.
 *
 * A tagged word is a Smi (lowest bit 0; the number is in the upper half) or a pointer to an object plus 1. Strings that
 * consist of other strings may be cyclic or endless: for one text, at most V8HEAP_STRINGS strings are followed.
 */
#ifndef PJ_V8HEAP_H
#define PJ_V8HEAP_H

#include "runtimes/v8/v8.h"

#define V8HEAP_STRINGS 64u

/* Returns true if the word may be a strong pointer to an object. Weak pointers are rejected. */
static inline bool v8heap_is_object(uint64_t word)
{
	return (word & 7) == 1 && word > 4096 && word < UINT64_C(1) << 47;
}

/* Sets *value to the number of a Smi. Returns false if the word is no Smi or the number is negative. */
static inline bool v8heap_smi(uint64_t word, uint32_t *value)
{
	*value = (uint32_t)(word >> 32);
	return (uint32_t)word == 0 && *value <= INT32_MAX;
}

/* Sets *word to the word at `offset` bytes in an object. Returns false if `object` is no object pointer, or the word
 * is not readable. */
bool v8heap_word(struct v8 *v8, uint64_t object, uint32_t offset, uint64_t *word);
/* Sets *field to the word at `offset` bytes in an object. Returns false if `object` is no object pointer, or if the
 * word is not readable or not a pointer to an object. */
bool v8heap_object(struct v8 *v8, uint64_t object, uint32_t offset, uint64_t *field);
/* Sets *type to the instance type of an object. Returns false if the object has no valid map: it has moved, or is no
 * object. */
bool v8heap_type(struct v8 *v8, uint64_t object, uint32_t *type);
/* Returns true if the instance type of the object is `type`; false if it is another one, or the object has no valid
 * map. */
bool v8heap_is(struct v8 *v8, uint64_t object, uint32_t type);

/* Writes a string as UTF-8 with a NUL to to[0..cap). A string that is too long ends with "...". NUL and lone
 * surrogates become U+FFFD. Returns false if the object is no string, or is not readable. */
bool v8heap_string(struct v8 *v8, uint64_t object, char *to, size_t cap);
/* Sets *length to the length of a string in characters. Returns false if the object is no string. */
bool v8heap_length(struct v8 *v8, uint64_t object, uint32_t *length);

/* Characters of a string in contiguous memory: `length` characters of `width` bytes each (1 or 2) at `address`. */
struct v8_flat {
	uint64_t address;
	uint32_t length, width;
};
/* Sets *flat to the characters of a string. Returns false if the characters are not contiguous, or not readable. */
bool v8heap_flat(struct v8 *v8, uint64_t object, struct v8_flat *flat);

#endif
