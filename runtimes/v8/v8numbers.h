/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8numbers.h - reads V8's tables of variable-length numbers: source positions, frame translations.
 *
 * Each byte has 7 bits of the number, lowest bits first; bit 7 is set in all bytes but the last.
 */
#ifndef PJ_V8NUMBERS_H
#define PJ_V8NUMBERS_H

#include "runtimes/v8/v8heap.h"

#define V8NUMBERS_CHUNK 256u /* number of bytes per read */

struct v8numbers {
	struct v8 *v8;
	uint64_t at, end; /* addresses of the bytes that are not in `bytes` yet */
	unsigned char bytes[V8NUMBERS_CHUNK];
	uint32_t next, n; /* in `bytes`: index of the next byte, and number of bytes */
	bool bad;         /* true if the table is not readable, exceeds the budget, or ends within a number */
};

/* Prepares to read the table at addresses [at, end). */
void v8numbers_start(struct v8numbers *numbers, struct v8 *v8, uint64_t at, uint64_t end);
/* Returns the next byte. At the end of the table, or if it is not readable or exceeds the budget, returns 0 and sets
 * numbers->bad. */
uint64_t v8numbers_byte(struct v8numbers *numbers);
/* Returns the next number; 0 if numbers->bad is set. */
uint64_t v8numbers_next(struct v8numbers *numbers);
/* Returns true if no number is left, or numbers->bad is set. Pure. */
bool v8numbers_end(const struct v8numbers *numbers);

#endif
