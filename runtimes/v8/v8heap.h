/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8heap.h - reads objects of V8's heap: tagged words, Smis, maps, strings.
 *
 * A tagged word is a Smi (lowest bit 0; the number is in the upper half) or a pointer to an object plus 1. Chains of
 * strings may be cyclic or endless: V8HEAP_STRINGS strings are followed for one text.
 */
#ifndef PJ_V8HEAP_H
#define PJ_V8HEAP_H

#include "runtimes/v8/v8.h"

#define V8HEAP_STRINGS 64u

/* Returns true if the word may be a pointer to an object. Weak pointers are none. */
static inline bool v8heap_is_object(uint64_t word)
{
	return (word & 7) == 1 && word > 4096 && word < UINT64_C(1) << 47;
}

/* Returns true for a Smi that is not negative, and sets *value. */
static inline bool v8heap_smi(uint64_t word, uint32_t *value)
{
	*value = (uint32_t)(word >> 32);
	return (uint32_t)word == 0 && *value <= INT32_MAX;
}

/* Reads the word at an offset of an object. */
bool v8heap_word(struct v8 *v8, uint64_t object, uint32_t offset, uint64_t *word);
/* Reads an object from a field of an object. */
bool v8heap_object(struct v8 *v8, uint64_t object, uint32_t offset, uint64_t *field);
/* Sets *type to the instance type of an object. Returns false if its map is none: the object has moved, or is none. */
bool v8heap_type(struct v8 *v8, uint64_t object, uint32_t *type);
/* Returns true if the object is of that type. */
bool v8heap_is(struct v8 *v8, uint64_t object, uint32_t type);

/* Appends a string as UTF-8 to to[0..cap) with a NUL; one that is too long ends with "...". NUL and lone surrogates
 * become U+FFFD. Returns false if the object is no string, or is not readable. */
bool v8heap_string(struct v8 *v8, uint64_t object, char *to, size_t cap);
/* Returns the length of a string in characters in *length; false if it is none. */
bool v8heap_length(struct v8 *v8, uint64_t object, uint32_t *length);

/* Characters in memory: length characters of width bytes each at an address. */
struct v8_flat {
	uint64_t address;
	uint32_t length, width;
};
/* Finds the characters of a string. Returns false if they are not in one place. */
bool v8heap_flat(struct v8 *v8, uint64_t object, struct v8_flat *flat);

#endif
