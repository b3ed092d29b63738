/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kallsyms.h - finds names of kernel functions in /proc/kallsyms or a copy of it.
 *
 * The kernel needs 36 ms to produce the 120,000 lines of /proc/kallsyms. The symbols of the core kernel are therefore
 * cached, by boot id and build-id, in a file below XDG_CACHE_HOME (mode 0600; kallcache.h); an invalid file is ignored.
 * Symbols of modules and BPF programs are never cached, because they change while the machine runs. If several symbols
 * have the same address, the symbol listed last is used, as in perf.
 */
#ifndef PJ_KALLSYMS_H
#define PJ_KALLSYMS_H

#include "fold/symbols/elfsyms.h"

struct kallsyms;

/* Source of the symbols. */
struct kallsyms_options {
	/* True: use the cache of symbols (kallcache.h). It has symbols of the running kernel only. */
	bool cache;
	/* Path of a copy of kallsyms; NULL: kallsyms of the running kernel. */
	const char *file;
	/* Path that tests use instead of /proc/kallsyms; NULL: /proc/kallsyms. */
	const char *live;
};

/* Opens a table of symbols. The strings in `options` must stay valid until kallsyms_close(). Returns NULL on failure,
 * with the reason in *why, such as "no symbols". */
struct kallsyms *kallsyms_open(const struct kallsyms_options *options, const char **why);

/* Opens a copy of kallsyms, which may be compressed with gzip. The result owns fd. Returns NULL on failure, with the
 * reason in *why. */
struct kallsyms *kallsyms_open_file(int fd, const char **why);

/* Looks up query[0, n), sampled kernel addresses in ascending order; symbols.h describes the results. relocate: number
 * that is added to the addresses of kallsyms, usually 0; with KASLR, the core kernel has another load address after
 * each boot. Modules are not relocated. Sets modules[i] to the id in `names` of "[module]", the module of the symbol of
 * query[i]; 0: the core kernel. `modules` may be NULL. Returns the number of queries named. */
size_t kallsyms_resolve(struct kallsyms *kallsyms, int64_t relocate, struct symbols_query *query, size_t n,
			struct intern *names, uint32_t *modules);

/* Returns the address of a symbol of the core kernel, such as _text; 0 if there is none. */
uint64_t kallsyms_address(struct kallsyms *kallsyms, struct str name);

/* Frees the table; accepts NULL. */
void kallsyms_close(struct kallsyms *kallsyms);

#endif
