/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codecache.h - lists the code that a JVM holds at one time: nmethods, the interpreter, stubs.
 *
 * A scan first finds the blocks by reading the segment maps, which have one byte for each segment. Then it reads the
 * first bytes of each block, many blocks with one read. It never reads the code itself. The JVM runs meanwhile, so a
 * block may be read while HotSpot initializes or frees it. HotSpot never reuses a compile id: the caller compares it to
 * check that an nmethod is still the same. Sources: heap.hpp, codeBlob.hpp, nmethod.hpp of the JDK. Memory of a JVM is
 * hostile; see readbudget.h for the limits.
 *
 * All functions return NULL on success, or the reason of the failure: a static string, a sentence about the JVM such as
 * "its code heaps overlap".
 */
#ifndef PJ_CODECACHE_H
#define PJ_CODECACHE_H

#include "runtimes/hotspot/vmlayout.h"

struct blob {
	uint64_t address;    /* address of the CodeBlob object */
	uint64_t begin, end; /* start and end address of the code */
	uint64_t method;     /* Method* of an nmethod; 0 for other blobs */
	uint64_t name;       /* address of the C string with HotSpot's name of the blob */
	uint32_t compile_id; /* _compile_id of an nmethod; 0 for other blobs */
	int8_t level;        /* compilation level of an nmethod, 0 to 4 */
	bool compiled;       /* true for an nmethod */
};

struct codecache {
	struct blob *blob; /* blobs of the last scan, sorted by address */
	size_t n, cap;
	/* Number of blocks with inconsistent fields in the last scan. Most of them were read while they changed. */
	uint64_t torn;
	/* Buffers of the scan, used again by the next scan. */
	unsigned char *map; /* part of a heap's segment map */
	uint64_t *begin;    /* start addresses of all blocks */
	size_t begin_cap;
	char *bytes; /* first bytes of up to 1024 blocks */
	uint32_t bytes_each;
};

/* Reasons that the functions return; the caller may compare their addresses. codecache_gone: the process has ended.
 * codecache_early: the code cache does not exist yet. codecache_over: the code cache has more than
 * CODECACHE_BLOCKS_MAX blocks, or the readbudget is exceeded. */
extern const char codecache_gone[], codecache_early[], codecache_over[];

/* Limit for the number of blocks. HotSpot reserves at most 2 GB for code, and each compiled method takes some kB. */
#define CODECACHE_BLOCKS_MAX (256u << 10)

/* Replaces the contents of codecache by all blobs that exist now. On failure codecache is empty. Before the first
 * scan, codecache is { 0 }. */
const char *codecache_scan(struct codecache *codecache, struct memory *memory, const struct vmlayout *vmlayout);

/* Result of codecache_at: the location of an address. */
enum codecache_where {
	CODECACHE_ELSEWHERE /* address is outside of all code heaps */,
	CODECACHE_FREE /* address is in a code heap, but in no code now */,
	/* address is in the code of *blob */
	CODECACHE_BLOB
};
/* Finds the blob whose code contains `address`, without a scan, and sets *where. *blob is valid only if *where is
 * CODECACHE_BLOB. Returns NULL, or the reason why the JVM cannot be read. */
const char *codecache_at(struct memory *memory, const struct vmlayout *vmlayout, uint64_t address,
			 enum codecache_where *where, struct blob *blob);

/* Moves the blobs of codecache into the result. codecache keeps its other buffers for the next scan. The caller
 * frees both. */
struct codecache codecache_take(struct codecache *codecache);

/* Removes the nmethods from blob[0..n) whose compile id or Method* has changed or whose block is free, and returns
 * the number of remaining blobs. Data that was read through a remaining blob between the scan and this call is
 * consistent. Returns 0 if the process has ended or the budget is exceeded. */
size_t codecache_keep_same(struct memory *memory, const struct vmlayout *vmlayout, struct blob *blob, size_t n);

/* Frees all memory of codecache and sets it to { 0 }. */
void codecache_free(struct codecache *codecache);

#endif
