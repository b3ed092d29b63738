/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blobcache.h - cache of the code blobs of one JVM (jvm->blob, jvm->fact) and of lines of their code bytes (jvm->line).
 *
 * Blobs are sorted by address and disjoint. A line is a copy of LINE bytes of code. When a blob changes, its lines are
 * dropped. javabudget.h charges the memory, and may drop the JVM's cache.
 */
#ifndef PJ_BLOBCACHE_H
#define PJ_BLOBCACHE_H

#include "record/java/javabudget.h"

/* Updates the unwinder's view of the cached blobs, jvm->code. To be called after each change of the cache. */
void blobcache_publish(struct javacode_jvm *jvm);

/* Returns the index in jvm->blob of the first cached blob that ends after an address; jvm->n if there is none. */
size_t blobcache_first_after(const struct javacode_jvm *jvm, uint64_t address);

/* Moves the cached blobs with index `from` and above, so that the first of them has index `to`, and adds to - from to
 * jvm->n. If to > from, the caller must have made space with javabudget_make_space. */
void blobcache_move(struct javacode_jvm *jvm, size_t to, size_t from);

/* Inserts the code->n blobs of one block of code into the cache; they replace cached blobs that overlap the block.
 * blob: the block; now: time in ns at which the blobs were read (fact.since and fact.seen). Returns false if the blobs
 * are inconsistent, if the cache is full, or if the memory budget is exceeded. */
bool blobcache_insert(struct javacode_jvm *jvm, const struct javaunwind_code *code, const struct blob *blob,
		      uint64_t now);

/* Removes cached blobs whose last use (fact.used) was before `since`, in ns. */
void blobcache_forget_before(struct javacode_jvm *jvm, uint64_t since);

/* Returns the cached line with this number (address / LINE); NULL if the line is not cached. */
const struct line *blobcache_line(const struct javacode_jvm *jvm, uint64_t number);

/* Caches a line of LINE bytes. Does nothing if the memory budget is exceeded. */
void blobcache_store_line(struct javacode_jvm *jvm, uint64_t number, const char *bytes);

/* Removes the cached lines that overlap the addresses [begin, end). */
void blobcache_forget_lines(struct javacode_jvm *jvm, uint64_t begin, uint64_t end);

#endif
