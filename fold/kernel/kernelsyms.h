/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernelsyms.h - selects a symbol table for the recorded kernel, and looks up names in it.
 *
 * The tables are tried in this order: the kallsyms snapshots of pjrecord for the window; kallsyms of the running kernel
 * if the running kernel is the recorded one; perf's copy of kallsyms, by build-id; the ELF file vmlinux of the kernel,
 * by build-id. A kernel has another load address after each boot. The difference to the addresses of a table comes from
 * one symbol whose address was recorded.
 */
#ifndef PJ_KERNELSYMS_H
#define PJ_KERNELSYMS_H

#include "fold/symbols/elfsyms.h"
#include "fold/symbols/symstore.h"

/* Recorded kernel, and options of the user. */
struct kernelsyms_options {
	/* Path of --kallsyms: a copy of kallsyms, or a vmlinux; NULL: the option is not given. */
	const char *file;
	/* Directory with the file system of the recorded machine (--symfs); NULL: this machine. */
	const char *symfs;
	/* Symbol store of pjrecord. Its kallsyms snapshots are searched first; NULL: none. */
	const struct symstore *symstore;
	/* True: search in vmlinux before kallsyms of the running kernel, as perf script does. */
	bool as_perf;
	/* True if the recording is from this host, by host name and kernel release, and has a record with the load
	 * address of the kernel. */
	bool here;
	/* Release of the recorded kernel. */
	struct str release;
	/* Build-id of the recorded kernel; n == 0: unknown. */
	struct build_id id;
	/* Name of a symbol, _text or _stext; the next member is its address in the recording, 0: unknown. */
	struct str symbol;
	uint64_t address;
};

/* Looks up query[0, n), as kallsyms_resolve() does, and sets modules[] as it does. Returns NULL, or a static text with
 * the reason for which no table can be used. Dies if the file of --kallsyms cannot be used for the recorded kernel. */
const char *kernelsyms_resolve(const struct kernelsyms_options *options, struct symbols_query *query, size_t n,
			       struct intern *names, uint32_t *modules);

#endif
