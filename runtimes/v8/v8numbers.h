/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8numbers.h - reads tables of numbers of variable length of V8: source positions, frame translations.
 *
 * A number has 7 bits a byte, the lowest first; the highest bit is set in all bytes but the last.
 */
#ifndef PJ_V8NUMBERS_H
#define PJ_V8NUMBERS_H

#include "runtimes/v8/v8heap.h"

#define V8NUMBERS_CHUNK 256u /* bytes that are read at once */

struct v8numbers {
	struct v8 *v8;
	uint64_t at, end; /* of the bytes that have not been read */
	unsigned char bytes[V8NUMBERS_CHUNK];
	uint32_t next, n; /* of the bytes that have been read */
	bool bad;         /* the table is not readable, over the budget, or ends within a number */
};

/* Begins to read a table at [at, end). */
void v8numbers_start(struct v8numbers *numbers, struct v8 *v8, uint64_t at, uint64_t end);
/* Returns the next byte; 0 if there is none, which is bad. */
uint64_t v8numbers_byte(struct v8numbers *numbers);
/* Returns the next number; 0 if it is bad. */
uint64_t v8numbers_next(struct v8numbers *numbers);
/* Returns true if no number is left, or if the table is bad. */
bool v8numbers_end(const struct v8numbers *numbers);

#endif
