/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suffixcache.h - samples of one thread end alike: what was called first stays the same while the leaf changes.
 *
 * perf script prints the leaf first, so that two samples of one thread mostly share the end of their text. Comparing
 * that end with the sample before, at memory speed, saves looking at half of all lines one by one. Everything here is
 * valid within one block of text; bytes are compared, never hashes.
 */
#ifndef PJ_SUFFIXCACHE_H
#define PJ_SUFFIXCACHE_H

#include "common/base.h"

/* One frame line of a sample that was folded. */
struct suffix_line {
	const char *start;
	uint32_t node;       /* of the call tree, with this line's frames and all outside of it */
	uint32_t unresolved; /* frames without symbol from here to the root */
};

/* A folded sample; n == 0: none. */
struct suffix_sample {
	uint64_t block;    /* + 1 */
	const char *end;   /* of its text: at the empty line */
	uint32_t first, n; /* its lines, innermost first, in struct suffixcache */
};

struct suffixcache {
	struct suffix_line *line;
	uint32_t n, cap;
};

/* Where the empty line begins that ends the sample at `at`: behind the newline of its last line. NULL: not in this
 * text. */
const char *suffixcache_end(const char *at, const char *end);

/* How many lines at the end of [at, end) are those at the end of the sample before. */
uint32_t suffixcache_match(const struct suffixcache *suffixes, const struct suffix_sample *before, const char *at,
			   const char *end);

/* Room for n more lines; they are line[n...] until tails_reset. */
void suffixcache_reserve(struct suffixcache *suffixes, uint32_t n);

#endif
