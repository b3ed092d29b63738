/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codecache.h - the code that a JVM holds at one moment: compiled methods, the interpreter, stubs.
 *
 * A scan reads one byte a segment to know where blocks begin, and then only their first bytes, many at a time: the
 * code itself never. The JVM runs on meanwhile, so a block may be read while it is made or taken away; a compile id,
 * which HotSpot never gives twice, tells whether it is still the same. Sources: heap.hpp, codeBlob.hpp, nmethod.hpp of
 * the JDK.
 */
#ifndef PJ_CODECACHE_H
#define PJ_CODECACHE_H

#include "runtimes/hotspot/vmlayout.h"

struct blob {
	uint64_t address;    /* of the CodeBlob */
	uint64_t begin, end; /* of its code */
	uint64_t method;     /* of an nmethod, else 0 */
	uint64_t name;       /* address of what HotSpot calls it */
	uint32_t compile_id; /* of an nmethod */
	int8_t level;        /* tier 0 to 4 */
	bool compiled;       /* an nmethod */
};

struct codecache {
	struct blob *blob; /* by address */
	size_t n, cap;
	uint64_t torn; /* blocks that made no sense; most are read while they change */
	/* memory of the scan, kept for the next one */
	unsigned char *map; /* a part of that of a heap */
	uint64_t *begin;    /* of blocks */
	size_t begin_cap;
	char *bytes; /* the first ones of some blocks */
	uint32_t bytes_each;
};

/* Three of the reasons why not; over: it holds more blocks than any HotSpot, or the budget of the memory is exceeded.
 */
extern const char codecache_gone[], codecache_early[], codecache_over[];

/* HotSpot reserves at most 2 GB for code, of which each compiled method takes some kB. */
#define CODECACHE_BLOCKS_MAX (256u << 10)

/* All that is there now, in place of what codecache held. NULL, or why not: then codecache holds nothing. */
const char *codecache_scan(struct codecache *codecache, struct memory *memory, const struct vmlayout *vmlayout);

/* The one block whose code is around an address: *b. NULL, or why the JVM cannot be read; *where says whether there is
 * one. */
enum codecache_where {
	CODECACHE_ELSEWHERE /* in no heap */,
	CODECACHE_FREE /* nothing is there now */,
	CODECACHE_BLOB
};
const char *codecache_at(struct memory *memory, const struct vmlayout *vmlayout, uint64_t address,
			 enum codecache_where *where, struct blob *blob);

/* What codecache holds; codecache keeps its room, and holds nothing. The other is to be freed, too. */
struct codecache codecache_take(struct codecache *codecache);

/* Takes out of blob what is not the same any more; what was read by way of the others belongs to them. How many stay.
 * 0 also if the process ended. */
size_t codecache_keep_same(struct memory *memory, const struct vmlayout *vmlayout, struct blob *blob, size_t n);

void codecache_free(struct codecache *codecache);

#endif
