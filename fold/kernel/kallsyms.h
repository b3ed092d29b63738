/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kallsyms.h - names of kernel functions, from /proc/kallsyms or a copy of it.
 *
 * Text of 120,000 lines that costs 36 ms in the kernel to produce, so the core kernel's part is cached by boot id and
 * build-id under XDG_CACHE_HOME (0600; a cache that does not fit is ignored); modules and BPF change while the machine
 * runs and are never cached. Of symbols at one address the last listed wins, as with perf. kallcache.h has the file.
 */
#ifndef PJ_KALLSYMS_H
#define PJ_KALLSYMS_H

#include "fold/symbols/elfsyms.h"

struct kallsyms;

struct kallsyms_options {
	bool cache;       /* of the live kernel */
	const char *file; /* --kallsyms, or NULL: the live kernel's */
	const char *live; /* what stands for /proc/kallsyms in tests, or NULL */
};

/* NULL and *why: "kernel.kptr_restrict hides addresses", "no such file", ... */
struct kallsyms *kallsyms_open(const struct kallsyms_options *options, const char **why);

/* A copy, also packed with gzip. Takes fd over. */
struct kallsyms *kallsyms_open_file(int fd, const char **why);

/* Kernel addresses as sampled. relocate: what has to be added to kallsyms' addresses (KASLR of another boot), usually
 * 0; modules are not relocated. Answers as symbols.h says; modules[i] receives an intern id of "[module]" or 0 for the
 * core kernel (modules may be NULL). */
size_t kallsyms_resolve(struct kallsyms *kallsyms, int64_t relocate, struct symbols_query *query, size_t n,
			struct intern *names, uint32_t *modules);

/* Address of a symbol by name (_text, _stext), 0 when it is not there. */
uint64_t kallsyms_address(struct kallsyms *kallsyms, struct str name);

void kallsyms_close(struct kallsyms *kallsyms);

#endif
