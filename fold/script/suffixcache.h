/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suffixcache.h - reuses the outer frames of the last sample of a thread.
 *
 * The outer frames of a thread stay the same while the leaf changes, and perf script prints the leaf first: so the
 * texts of two samples of one thread mostly have a common end. Comparing that end with the sample before, at memory
 * speed, saves parsing half of all lines. All data are valid within one block of text; bytes are compared, never
 * hashes.
 */
#ifndef PJ_SUFFIXCACHE_H
#define PJ_SUFFIXCACHE_H

#include "common/base.h"

/* One frame line of a folded sample. */
struct suffix_line {
	const char *start;
	uint32_t node;       /* of the call tree, with the frames of this line and of all outer ones */
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

/* Returns the empty line that ends the sample at `at`, the position after the newline of its last line; NULL if the
 * text has none. */
const char *suffixcache_end(const char *at, const char *end);

/* Returns the number of lines at the end of [at, end) that equal the last lines of the sample before. */
uint32_t suffixcache_match(const struct suffixcache *suffixes, const struct suffix_sample *before, const char *at,
			   const char *end);

/* Makes space for n more lines, line[n] and the following ones. */
void suffixcache_reserve(struct suffixcache *suffixes, uint32_t n);

#endif
