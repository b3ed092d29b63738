/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suffixcache.h - reuses the outer frames of the last sample of a thread.
 *
 * The outer frames of a thread stay the same while the leaf changes, and perf script prints the leaf first: so the
 * texts of two samples of one thread mostly have a common end. Comparing a sample with the thread's previous sample, at
 * memory speed, saves parsing half of all lines. All data are valid only within one block of text. The module compares
 * bytes, never hashes.
 */
#ifndef PJ_SUFFIXCACHE_H
#define PJ_SUFFIXCACHE_H

#include "common/base.h"

/* One frame line of a folded sample. */
struct suffix_line {
	const char *start;
	uint32_t node;       /* node in the call tree of the stack from the root to the frames of this line */
	uint32_t unresolved; /* number of frames without symbol from this line to the root */
};

/* The lines of a folded sample; n == 0: no sample. */
struct suffix_sample {
	uint64_t block;    /* number of the sample's block of text, plus 1 */
	const char *end;   /* end of the sample's text: the empty line */
	uint32_t first, n; /* index of the first line in suffixcache.line, and number of lines, innermost first */
};

/* The lines of all folded samples of a block of text: n lines; cap: capacity of `line` in elements. */
struct suffixcache {
	struct suffix_line *line;
	uint32_t n, cap;
};

/* Returns the position of the first empty line in [at, end), which ends the sample at `at`; NULL if there is none. */
const char *suffixcache_end(const char *at, const char *end);

/* Returns the number of lines at the end of [at, end), the text of a sample, that equal the last lines of `before`. */
uint32_t suffixcache_match(const struct suffixcache *suffixes, const struct suffix_sample *before, const char *at,
			   const char *end);

/* Makes space for n more lines after the suffixes->n existing lines; this may move the existing lines. */
void suffixcache_reserve(struct suffixcache *suffixes, uint32_t n);

#endif
