/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rubylines.h - the index of the line table of a method: which entry an instruction belongs to.
 *
 * The table has an entry for each run of instructions of one line. Its index is a succinct bit vector: a bit for each
 * word of the code, set where an entry begins. The entry of a word is the number of bits set up to it, minus 1.
 */
#ifndef PJ_RUBYLINES_H
#define PJ_RUBYLINES_H

#include "common/base.h"

/* Number of words of code whose ranks are in the first part of the index, and its size in bytes. */
#define RUBYLINES_FIRST_WORDS 54u
#define RUBYLINES_FIRST_BYTES 48u
/* A later part of the index is for this number of words, and has this number of bytes. */
#define RUBYLINES_PART_WORDS 512u
#define RUBYLINES_PART_BYTES 80u

/* Sets *at and *n to the bytes of the index that rubylines_rank needs for a word of the code. Pure. */
void rubylines_part(uint32_t word, uint64_t *at, uint32_t *n);

/* Returns the number of entries that begin at or before a word of the code. part: the bytes of rubylines_part. Pure. */
uint32_t rubylines_rank(const char *part, uint32_t word);

#endif
