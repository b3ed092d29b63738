/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernelsyms.h - choice of the symbol table for the recorded kernel, and lookup of names in it.
 *
 * The sources are, in this order: the kallsyms snapshots that a window of pjrecord refers to; kallsyms of the running
 * kernel if it is the recorded one; perf's copy of kallsyms, by build-id; the kernel's ELF file vmlinux, by build-id. A
 * kernel has another load address after each boot. The recorded address of one symbol gives the difference to the
 * addresses of a table.
 */
#ifndef PJ_KERNELSYMS_H
#define PJ_KERNELSYMS_H

#include "fold/symbols/elfsyms.h"
#include "fold/symbols/symstore.h"

/* The recorded kernel and the options of the user. */
struct kernelsyms_options {
	/* Path of --kallsyms, a copy of kallsyms or a vmlinux; NULL: the option is not given. */
	const char *file;
	/* Directory with the file system of the recorded machine (--symfs); NULL: this machine. */
	const char *symfs;
	/* Symbol store of pjrecord, whose kallsyms snapshots are searched first; NULL: none. */
	const struct symstore *symstore;
	/* Search vmlinux before kallsyms, as perf script does. */
	bool as_perf;
	/* The recording is from this host, according to host name and kernel release. */
	bool here;
	/* Release of the recorded kernel. */
	struct str release;
	/* Build-id of the recorded kernel; n == 0: unknown. */
	struct build_id id;
	/* Name of a symbol, _text or _stext, and its recorded address; address 0: unknown. */
	struct str symbol;
	uint64_t address;
};

/* Looks up query[0, n) as kallsyms_resolve() does. Returns NULL, or the reason why no table was found, a static text.
 * Dies if the file of --kallsyms is not a table of the recorded kernel. */
const char *kernelsyms_resolve(const struct kernelsyms_options *options, struct symbols_query *query, size_t n,
			       struct intern *names, uint32_t *modules);

#endif
