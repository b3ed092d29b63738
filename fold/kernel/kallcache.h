/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kallcache.h - table of kernel symbols, and a cache file with the symbols of the core kernel for the current boot.
 *
 * The file is pj/kallsyms-BOOTID below XDG_CACHE_HOME or ~/.cache (directory mode 0700, file mode 0600). It is used
 * only if it belongs to this user, is complete, and is from this boot and kernel. Without a valid file or a writable
 * directory of this user there is no cache: no function fails or prints a message. Root writes nothing into the home
 * directory of another user (sudo).
 *
 * Symbols lie in blocks of a few kB, each with a checksum, after a table of the blocks' start addresses. A lookup reads
 * only the blocks that contain the requested addresses.
 */
#ifndef PJ_KALLCACHE_H
#define PJ_KALLCACHE_H

#include "common/text.h"

/* A kernel symbol. */
struct ksym {
	uint64_t start;
	/* Offset in ksyms.names of the symbol's name, which ends in NUL. */
	uint32_t name;
	/* Offset in ksyms.names of "[module]", the symbol's module; 0: the core kernel. */
	uint32_t module;
};

/* A table of kernel symbols; all zero is an empty one. */
struct ksyms {
	/* Sorted by start; symbols with equal start are in the order of the source. */
	struct ksym *sym;
	size_t n;
	/* Names of symbols and modules, each ended by NUL, after a NUL at offset 0; empty if there are no symbols. */
	struct text names;
};

/* Frees the table and resets it to an empty one. */
void ksyms_free(struct ksyms *ksyms);

/* Returns the assumed end of the last symbol of the kernel or of a module: one page after its start, as in perf. */
uint64_t ksym_last_end(uint64_t start);

struct kallcache;

/* Result of a lookup in the cache: no such symbol; found; the address is not in the core kernel; the file is damaged.
 */
enum kallcache_answer { KALLCACHE_NONE, KALLCACHE_FOUND, KALLCACHE_OUTSIDE, KALLCACHE_BROKEN };

/* Creates the directory of the cache and passes it to the broker, which starts later. Returns its path, which the
 * caller frees; NULL if there is no cache. */
char *kallcache_prepare(void);

/* Opens the cache file of this boot and kernel; NULL if there is no valid one. */
struct kallcache *kallcache_open(void);

/* Finds the last symbol that begins at or before `address`. Sets *name, valid until the next call, and *start. Returns
 * KALLCACHE_FOUND; KALLCACHE_OUTSIDE if the address is not in the core kernel; KALLCACHE_BROKEN if the file is damaged,
 * after which the cache is of no use. */
enum kallcache_answer kallcache_find(struct kallcache *kallcache, uint64_t address, struct str *name, uint64_t *start);

/* Sets *start to the address of the symbol `name`. Returns KALLCACHE_FOUND, KALLCACHE_NONE if there is no such symbol,
 * or KALLCACHE_BROKEN. */
enum kallcache_answer kallcache_address(struct kallcache *kallcache, struct str name, uint64_t *start);

/* Closes the cache; accepts NULL. */
void kallcache_close(struct kallcache *kallcache);

/* Writes the symbols of the core kernel to the cache file and removes files of other boots. */
void kallcache_store(const struct ksyms *all);

/* Format of the cache file, for the functions above and for tests. kallcache_pack() appends the bytes of a file to
 * *file; `key` identifies boot and kernel. kallcache_of() opens a file with this key and takes ownership of fd; NULL if
 * the file is not valid. */
void kallcache_pack(const struct ksyms *all, struct str key, struct text *file);
struct kallcache *kallcache_of(int fd, struct str key);

#endif
