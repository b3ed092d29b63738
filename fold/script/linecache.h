/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linecache.h - a cache of frame lines: a repeated line costs one hash and one comparison.
 *
 * perf script repeats the same frames millions of times. The text after the address of a frame line, "sym+0x1a (dso)",
 * is looked up in two tables: first in a small table of fixed size by the hash of the text, then in a table by (symbol,
 * dso) without the offset. So naming rules run once for each distinct (symbol, dso), and memory grows with the number
 * of these, not of addresses. Each hit compares the bytes.
 */
#ifndef PJ_LINECACHE_H
#define PJ_LINECACHE_H

#include "fold/names/names.h"
#include "common/stacks.h"

struct line_entry {
	uint32_t hash; /* hash of `key` */
	uint32_t symbol_n;
	uint32_t rest_n;
	uint32_t frame; /* id of the innermost frame */
	/* index in linecache.more of the list of callers if `frame` is an inlined call: frame ids, innermost first,
	 * ended by 0; 0: `frame` is not inlined */
	uint32_t callers;
	bool unresolved;
	/* text by which the entry is found: symbol without offset, then " (dso)", " (inlined)" or nothing */
	char key[];
};

struct linecache {
	struct names *names;
	/* Call tree whose frame ids the entries contain. */
	struct stacks *stacks;
	/* All line_entries, one after another. An entry's index is its offset in bytes / 8; 0: no entry. */
	char *pool;
	size_t pool_n, pool_cap;
	uint32_t n;
	uint32_t *slot;
	uint32_t mask;
	struct linecache_set *front;
	uint32_t *more;
	uint32_t nmore, more_cap;
	char *scratch;
	size_t scratch_cap;
};

/* Splits the text after the address of a frame line, "sym+0x1a (dso)", into symbol and DSO, without the offset. Has no
 * state. */
struct names_frame linecache_split(struct str frame_text);

/*
 * A frame line during its lookup. A lookup has three steps, so that the processor prefetches memory while other lines
 * of the sample are processed: linecache_hash for all lines, linecache_guess for all, linecache_get for all.
 */
struct line_ref {
	const char *start; /* start of the line, for the caller */
	const char *p;     /* text after the address, n bytes */
	uint32_t n;
	uint32_t guess;
	uint64_t hash;
};

void linecache_hash(const struct linecache *lines, struct line_ref *ref);
void linecache_guess(const struct linecache *lines, struct line_ref *ref);

/* Returns the entry of a frame line. Makes an entry if there is none. The result is valid until the next call. */
const struct line_entry *linecache_get(struct linecache *lines, const struct line_ref *ref);

void linecache_init(struct linecache *lines, struct names *names, struct stacks *stacks);
void linecache_free(struct linecache *lines);

#endif
