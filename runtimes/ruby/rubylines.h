/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rubylines.h - finds the entry of a method's line table for an instruction, by the table's index.
 *
 * The line table has an entry for each run of instructions of one line. Its index is a succinct bit vector with a bit
 * for each word of the code, set where an entry begins. The entry of a word is the number of set bits up to and
 * including the word, minus 1.
 */
#ifndef PJ_RUBYLINES_H
#define PJ_RUBYLINES_H

#include "common/base.h"

/* Number of code words that the first part of the index covers, and size of that part in bytes. */
#define RUBYLINES_FIRST_WORDS 54u
#define RUBYLINES_FIRST_BYTES 48u
/* Number of code words that each later part of the index covers, and size of such a part in bytes. */
#define RUBYLINES_PART_WORDS 512u
#define RUBYLINES_PART_BYTES 80u

/* Sets *at to the offset and *n to the number of the index bytes that rubylines_rank needs for a code word. Pure. */
void rubylines_part(uint32_t word, uint64_t *at, uint32_t *n);

/* Returns the number of entries that begin at or before a code word. part: the n index bytes at the offset *at of
 * rubylines_part. Pure. */
uint32_t rubylines_rank(const char *part, uint32_t word);

#endif
