/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linecache.h - frame lines that were seen before cost one hash and one comparison.
 *
 * perf script repeats the same frames millions of times. What stands behind the address of a frame line, "sym+0x1a
 * (dso)", leads to the frame's ids in two steps: a small fixed table by the hash of these bytes, and, where that
 * misses, a table by (symbol, dso) without the offset. So naming rules run once per distinct (symbol, dso), and
 * memory follows those, not addresses. Every hit compares the bytes.
 */
#ifndef PJ_LINECACHE_H
#define PJ_LINECACHE_H

#include "fold/names/names.h"
#include "common/stacks.h"

struct line_entry {
	uint32_t hash; /* of (symbol, dso) */
	uint32_t symbol_n;
	uint32_t rest_n;
	uint32_t frame;    /* id of the innermost frame */
	uint32_t unwinder; /* index into more: the frames that it was inlined into, inside out, 0 ends; or 0 */
	bool unresolved;
	char key[]; /* symbol, then " (dso)", " (inlined)" or nothing */
};

struct linecache {
	struct names *names;
	struct stacks *stacks; /* whose frame ids these are */
	char *pool;            /* entries, one behind the other, named by their offset / 8; 0 is none */
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

/* Splits what stands behind the address: "sym+0x1a (dso)". The offset is cut off. Pure. */
struct names_frame linecache_split(struct str frame_text);

/*
 * Looking up takes three steps, so that memory is on its way while other lines of the sample are looked at:
 * lines_hash for all, lines_guess for all, lines_get for all.
 */
struct line_ref {
	const char *start; /* of the line, for the caller */
	const char *p;     /* tail */
	uint32_t n;
	uint32_t guess;
	uint64_t hash;
};

void linecache_hash(const struct linecache *lines, struct line_ref *ref);
void linecache_guess(const struct linecache *lines, struct line_ref *ref);

/* The entry; valid until the next call. */
const struct line_entry *linecache_get(struct linecache *lines, const struct line_ref *ref);

void linecache_init(struct linecache *lines, struct names *names, struct stacks *stacks);
void linecache_free(struct linecache *lines);

#endif
