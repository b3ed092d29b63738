/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kallsyms.h - names of kernel functions from /proc/kallsyms or a copy of it.
 *
 * The kernel needs 36 ms to produce its 120,000 lines. The symbols of the core kernel are therefore cached, by boot id
 * and build-id, in a file below XDG_CACHE_HOME (mode 0600; an invalid file is ignored; see kallcache.h). Modules and
 * BPF programs change while the machine runs and are never cached. If several symbols have one address, the last one
 * listed is used, as in perf.
 */
#ifndef PJ_KALLSYMS_H
#define PJ_KALLSYMS_H

#include "fold/symbols/elfsyms.h"

struct kallsyms;

/* Source of the symbols. */
struct kallsyms_options {
	/* Use the cache of symbols (kallcache.h); only for the running kernel. */
	bool cache;
	/* Path of a copy of kallsyms; NULL: the running kernel. */
	const char *file;
	/* Path that replaces /proc/kallsyms in tests; NULL: /proc/kallsyms. */
	const char *live;
};

/* Opens a table of symbols; the strings in options must stay valid until kallsyms_close(). Returns NULL on failure,
 * with the reason in *why: "kernel.kptr_restrict hides addresses", "no such file", ... */
struct kallsyms *kallsyms_open(const struct kallsyms_options *options, const char **why);

/* As kallsyms_open(), for an open copy of kallsyms, which may be compressed with gzip. Takes ownership of fd. */
struct kallsyms *kallsyms_open_file(int fd, const char **why);

/* Looks up query[0, n), sorted kernel addresses as sampled, with results as in symbols.h. `relocate` is added to the
 * addresses of kallsyms: the KASLR difference to another boot, usually 0; modules are not relocated. modules[i] is set
 * to the id of "[module]" in `names`, 0 for the core kernel; `modules` may be NULL. Returns the number of queries that
 * got a name. */
size_t kallsyms_resolve(struct kallsyms *kallsyms, int64_t relocate, struct symbols_query *query, size_t n,
			struct intern *names, uint32_t *modules);

/* Returns the address of a symbol of the core kernel, such as _text; 0 if there is none. */
uint64_t kallsyms_address(struct kallsyms *kallsyms, struct str name);

/* Frees the table; accepts NULL. */
void kallsyms_close(struct kallsyms *kallsyms);

#endif
