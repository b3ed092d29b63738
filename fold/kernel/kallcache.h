/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kallcache.h - a table of kernel symbols, and the file that keeps the core kernel's part of it while the machine runs.
 *
 * The file is pj/kallsyms-BOOTID below XDG_CACHE_HOME or ~/.cache (folder 0700, file 0600). It is used only when it is
 * ours, whole, of this boot and of this kernel; else, and where no folder of ours can be written, there is just no
 * cache: nothing here fails or says anything. Root leaves nothing in the home of somebody else (sudo).
 *
 * Symbols lie in blocks of a few kB, each with a sum of its own, behind a table of where blocks begin: asking for some
 * addresses reads the blocks that hold them and nothing else.
 */
#ifndef PJ_KALLCACHE_H
#define PJ_KALLCACHE_H

#include "common/text.h"

struct ksym {
	uint64_t start;
	uint32_t name;   /* where in names, NUL behind it */
	uint32_t module; /* "[name]" the same way, 0: the core kernel */
};

struct ksyms {
	struct ksym *sym; /* by start, equal ones in the order of the source */
	size_t n;
	struct text names; /* begins with a NUL, ends with one; empty when there is nothing */
};

void ksyms_free(struct ksyms *ksyms);

/* Where the last symbol of a kernel or module is taken to end: one page on, as perf does. */
uint64_t ksym_last_end(uint64_t start);

struct kallcache;

enum kallcache_answer { KALLCACHE_NONE, KALLCACHE_FOUND, KALLCACHE_OUTSIDE, KALLCACHE_BROKEN };

/* Makes the folder of the cache, and hands it to the broker that will be started. Returns its path, to be freed; NULL
 * if there is none. */
char *kallcache_prepare(void);

/* The cache of this boot; NULL: there is none. */
struct kallcache *kallcache_open(void);

/* The last symbol that begins at or before address; *name is valid until the next call. OUTSIDE: no core kernel there.
 * BROKEN: the file does not say what was written, and is of no use. */
enum kallcache_answer kallcache_find(struct kallcache *kallcache, uint64_t address, struct str *name, uint64_t *start);

/* The start of the symbol of that name; NONE: there is no such. */
enum kallcache_answer kallcache_address(struct kallcache *kallcache, struct str name, uint64_t *start);

void kallcache_close(struct kallcache *kallcache);

/* Keeps the symbols of all that are of the core kernel, and removes what other boots left. */
void kallcache_store(const struct ksyms *all);

/* The bytes of such a file, and a cache of a file (taken over); key tells boot and kernel. For the above and for tests.
 */
void kallcache_pack(const struct ksyms *all, struct str key, struct text *file);
struct kallcache *kallcache_of(int fd, struct str key);

#endif
