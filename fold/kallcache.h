/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kallcache.h - a table of kernel symbols, and the file that keeps the core kernel's part of it while the machine runs.
 *
 * The file is pj/kallsyms-BOOTID below XDG_CACHE_HOME or ~/.cache (folder 0700, file 0600). It is used only when it is
 * ours, whole, of this boot and of this kernel; else, and where no folder of ours can be written, there is just no
 * cache: nothing here fails or says anything. Root leaves nothing in the home of somebody else (sudo).
 */
#ifndef PJ_KALLCACHE_H
#define PJ_KALLCACHE_H

#include "text.h"

#define KSYM_PFX 0x80000000u /* in name: "__pfx_" and the name of the next symbol, as for half of all symbols on x86 */

struct ksym {
	uint64_t start;
	uint32_t name;   /* where in names, NUL behind it; see KSYM_PFX */
	uint32_t module; /* "[name]" the same way, 0: the core kernel */
};

struct ksyms {
	struct ksym *sym; /* by start, equal ones in the order of the source */
	size_t n;
	struct text names; /* begins with a NUL, ends with one; empty when there is nothing */
};

/* The core kernel of this boot, into an empty table; false when there is no such cache. */
bool kallcache_load(struct ksyms *core);

/* Keeps the symbols of all that are of the core kernel, and removes what other boots left. */
void kallcache_store(const struct ksyms *all);

/* The bytes of such a file; key is what boot and kernel they must be of. Pure, for these two and for tests. */
void kallcache_pack(const struct ksyms *all, struct str key, struct text *file);
bool kallcache_unpack(struct str file, struct str key, struct ksyms *core);

void ksyms_free(struct ksyms *k);

#endif
