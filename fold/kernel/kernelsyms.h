/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernelsyms.h - which table has the names of the recorded kernel, and what they are.
 *
 * The snapshots that a window of pjrecord names; the table of the running kernel when it is the recorded one; perf's
 * copy of kallsyms by build-id; the kernel's own ELF file,
 * vmlinux, by build-id. A kernel is moved to another place at every start: where a symbol was, as the recording tells,
 * relates its addresses to those of a table.
 */
#ifndef PJ_KERNELSYMS_H
#define PJ_KERNELSYMS_H

#include "fold/symbols/elfsyms.h"
#include "fold/symbols/symstore.h"

struct kernelsyms_options {
	const char *file;                /* --kallsyms: a copy of kallsyms, or a vmlinux; or NULL */
	const char *symfs;               /* folder that holds the files of the recorded machine, or NULL */
	const struct symstore *symstore; /* what pjrecord kept is asked first; or NULL */
	bool as_perf;                    /* vmlinux first */
	bool here;                       /* recorded on this host, as far as its name and release tell */
	struct str release;              /* of the kernel */
	struct build_id id;              /* n == 0: not told */
	struct str symbol;               /* _text or _stext ... */
	uint64_t address;                /* ... and where it was; 0: not told */
};

/* Answers query[0..n) as kallsyms_resolve does; NULL, or why there are no names at all. Dies when a file that the user
 * named is no table of that kernel. */
const char *kernelsyms_resolve(const struct kernelsyms_options *options, struct symbols_query *query, size_t n,
			       struct intern *names, uint32_t *modules);

#endif
