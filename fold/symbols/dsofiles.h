/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dsofiles.h - finds the files that name the code of a DSO: pjrecord's symbol store first, then perf's search order,
 * with a build-id check at each step.
 *
 * A file of another build is worse than none: it is refused, and the reason is returned. Without a build-id, the file
 * at the mapped path is used only if device, inode and times prove that it was mapped, and a debug file only if its CRC
 * matches. (No proof is needed with --symfs, where the user chose the files, or with as_perf.) Files below
 * /proc/PID/root are used only if the caller has proven that process PID is the sampled one (dsofiles_query.live), and
 * are opened so that no path in a container leads outside of it (openat2, RESOLVE_IN_ROOT, no magic links; regular
 * files only).
 */
#ifndef PJ_DSOFILES_H
#define PJ_DSOFILES_H

#include "fold/symbols/elfsyms.h"
#include "fold/symbols/symstore.h"

#include <sys/types.h>

enum dso_reason {
	DSO_FOUND,
	DSO_NO_FILE,
	DSO_OTHER_BUILD,
	DSO_UNPROVEN, /* no build-id is known, nor a file id or time to compare with the file at the path */
	/* no build-id is known, and the file at the path has another file id, or was changed after the recording */
	DSO_OTHER_FILE,
	DSO_STRIPPED,
	DSO_NOT_ELF,
	DSO_FORBIDDEN,
	DSO_SILENT /* opening the file timed out: its file system does not respond */
};

/* Result of the lookup of inlined calls. */
struct dsofiles_inlined {
	bool is_requested;
	bool found;      /* true if a file with debug information, or with the tables of Go (goinlines.h), was found */
	const char *why; /* reason why inlined calls may be missing; NULL: none is missing */
};

struct dsofiles_options {
	struct elfsyms_options elf;
	struct dsofiles_inlined *inlined; /* Result of the lookup of inlined calls; NULL: they are not looked up. */
	const char *symfs;                /* directory that precedes all paths (--symfs); NULL: none */
	const char *debug_dir;            /* perf's buildid cache; NULL: $HOME/.debug */
	const struct symstore *symstore;  /* pjrecord's symbol store, which is searched first; NULL: none */
	/* True if the recording is from this machine: a file of this machine at the mapped path may then be used, even
	 * without a build-id. */
	bool local;
};

struct dsofiles_query {
	/* path of the file, as in the mapping record */
	struct str path;
	/* Build-id of the file; n is 0 if the build-id is unknown. */
	struct build_id build_id;
	/* File id of the mapped file; its inode is 0 if it is unknown. */
	struct file_id numbers;
	/* If no build-id is known, the file at the path must be unchanged since this wall-clock time in ns
	 * (provenance.until). */
	uint64_t until;
	/* PID of a recorded process that maps the file. It selects the tenant in the symbol store. */
	uint32_t pid;
	/* True if the path is valid in a container, not on the recorded host. */
	bool elsewhere;
	/* PID of the sampled process, which is proven to live: the path is looked up below its root. 0: none. */
	pid_t live;
};

/* Looks up the symbols of q[0..n), ascending file offsets, in the files of a DSO, in perf's order; and their inlined
 * calls, if options->inlined is not NULL. Returns DSO_FOUND if a file with .symtab was found, or if other tables
 * named the queries; otherwise the reason why queries have no name. */
enum dso_reason dsofiles_resolve(const struct dsofiles_options *options, const struct dsofiles_query *query,
				 struct symbols_query *q, size_t n, struct intern *names);

#endif
