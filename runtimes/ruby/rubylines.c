/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of struct succ_index_table of iseq.c. */
#include "runtimes/ruby/rubylines.h"

#include <string.h>

/* first part of the index: 9 ranks of 7 bits in each 64-bit word, one rank for each code word */
#define RANKS_IN_WORD 9u
#define RANK_BITS 7u
/* offset in a later part of the ranks of its 64-bit words: 9 bits for each word but the first */
#define PART_RANKS 8u
#define PART_BITS 16u
#define PART_RANK_BITS 9u

void rubylines_part(uint32_t word, uint64_t *at, uint32_t *n)
{
	if (word < RUBYLINES_FIRST_WORDS) {
		*at = (uint64_t)8 * (word / RANKS_IN_WORD);
		*n = 8;
		return;
	}
	*at = RUBYLINES_FIRST_BYTES +
	      (uint64_t)((word - RUBYLINES_FIRST_WORDS) / RUBYLINES_PART_WORDS) * RUBYLINES_PART_BYTES;
	*n = RUBYLINES_PART_BYTES;
}

static uint64_t word_at(const char *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

uint32_t rubylines_rank(const char *part, uint32_t word)
{
	uint32_t in_part, which, rank;
	uint64_t ranks, bits;

	if (word < RUBYLINES_FIRST_WORDS)
		return word_at(part) >> (RANK_BITS * (word % RANKS_IN_WORD)) & ((1u << RANK_BITS) - 1);
	in_part = (word - RUBYLINES_FIRST_WORDS) % RUBYLINES_PART_WORDS;
	which = in_part / 64;
	memcpy(&rank, part, sizeof(rank));
	ranks = word_at(part + PART_RANKS);
	if (which)
		rank += (uint32_t)(ranks >> (PART_RANK_BITS * (which - 1)) & ((1u << PART_RANK_BITS) - 1));
	bits = word_at(part + PART_BITS + (size_t)8 * which) << (63 - in_part % 64);
	return rank + (uint32_t)__builtin_popcountll(bits);
}
