/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kallcache.h - table of kernel symbols, and a cache file with the symbols of the core kernel for the current boot.
 *
 * The file is pj/kallsyms-BOOTID below XDG_CACHE_HOME or ~/.cache (directory mode 0700, file mode 0600). It is used
 * only if it belongs to this user, is complete, and is from this boot and kernel. Without a valid file, or without a
 * directory that this user can write to, there is no cache; no function then fails or prints a message. Root writes
 * nothing into the home directory of another user (sudo).
 *
 * The file has a table with the start addresses of blocks, then the blocks: a few kB of symbols each, with a checksum.
 * A lookup reads only the blocks that contain the requested addresses.
 */
#ifndef PJ_KALLCACHE_H
#define PJ_KALLCACHE_H

#include "common/text.h"

/* A kernel symbol. */
struct ksym {
	uint64_t start;
	/* Offset in ksyms.names of the symbol's name, which ends with NUL. */
	uint32_t name;
	/* Offset in ksyms.names of "[module]", the module of the symbol; 0: the core kernel. */
	uint32_t module;
};

/* Table of kernel symbols; all zero: empty. */
struct ksyms {
	/* Symbols sorted by start; symbols with the same start are in the order of the source. */
	struct ksym *sym;
	size_t n;
	/* Names of symbols and modules, each ended by NUL, after a NUL at offset 0. Empty if there are no symbols. */
	struct text names;
};

/* Frees the table, and makes it empty. */
void ksyms_free(struct ksyms *ksyms);

/* Returns the assumed end address of the last symbol of the kernel or of a module: `start`, the address of the symbol,
 * rounded up to a page, plus one page. perf assumes the same end. */
uint64_t ksym_last_end(uint64_t start);

struct kallcache;

/* Result of a lookup in the cache. NONE: no symbol has this name. FOUND: the symbol was found. OUTSIDE: the address is
 * outside of the core kernel. BROKEN: the file is damaged and must not be used. */
enum kallcache_answer { KALLCACHE_NONE, KALLCACHE_FOUND, KALLCACHE_OUTSIDE, KALLCACHE_BROKEN };

/* Creates the cache directory, and passes it to the broker, which starts later. Returns the path of the directory,
 * which the caller frees; NULL if there is no cache. */
char *kallcache_prepare(void);

/* Opens the cache file of this boot and kernel. Returns NULL if there is no valid file. */
struct kallcache *kallcache_open(void);

/* Finds the last symbol that begins at or before `address`, and sets *name, valid until the next call, and *start.
 * Returns KALLCACHE_FOUND; KALLCACHE_OUTSIDE if the address is outside of the core kernel; KALLCACHE_BROKEN if the file
 * is damaged and must not be used any more. */
enum kallcache_answer kallcache_find(struct kallcache *kallcache, uint64_t address, struct str *name, uint64_t *start);

/* Sets *start to the address of the symbol `name`. Returns KALLCACHE_FOUND, KALLCACHE_NONE if there is no such symbol,
 * or KALLCACHE_BROKEN. */
enum kallcache_answer kallcache_address(struct kallcache *kallcache, struct str name, uint64_t *start);

/* Closes the cache; accepts NULL. */
void kallcache_close(struct kallcache *kallcache);

/* Writes the symbols of the core kernel to the cache file, and removes cache files of other boots. */
void kallcache_store(const struct ksyms *all);

/* Format of the cache file; tests call these functions, too. kallcache_pack() appends the bytes of a cache file to
 * *file; `key` identifies boot and kernel. kallcache_of() opens the cache file fd, which it owns from then on, and
 * returns NULL if the file is damaged or has another key. */
void kallcache_pack(const struct ksyms *all, struct str key, struct text *file);
struct kallcache *kallcache_of(int fd, struct str key);

#endif
