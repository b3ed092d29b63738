/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dsofiles.h - finds the files that name the code of a DSO: pjrecord's symbol store first, then perf's search order,
 * with a build-id check at each step.
 *
 * A file of another build is worse than none: it is refused, and the reason is returned. Without a build-id, the mapped
 * file is used only if its device, inode and times show that it is the mapped one, and debug files only if
 * their CRC does (not with --symfs, whose user chose the files, and not with as_perf). Files below /proc/PID/root are
 * used only if the caller proves that this is the sampled process (live), and are opened so that nothing in a container
 * leads outside of it (openat2, RESOLVE_IN_ROOT, no magic links; regular files only).
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
	DSO_UNPROVEN,   /* there is no build-id, and neither numbers nor times to compare the file at the path with */
	DSO_OTHER_FILE, /* there is no build-id, and the file at the path is not shown to be the mapped one */
	DSO_STRIPPED,
	DSO_NOT_ELF,
	DSO_FORBIDDEN,
	DSO_SILENT /* the file system of the file does not respond */
};

/* Result of the lookup of inlined calls. */
struct dsofiles_inlined {
	bool is_requested;
	bool found;      /* a file with debug information, or with the tables of Go (goinlines.h), was found */
	const char *why; /* reason why inlined calls may be missing; NULL: they are complete */
};

struct dsofiles_options {
	struct elfsyms_options elf;
	struct dsofiles_inlined *inlined; /* NULL: do not look up inlined calls */
	const char *symfs;                /* directory that precedes all paths (--symfs); NULL: none */
	const char *debug_dir;            /* perf's buildid cache; NULL: $HOME/.debug */
	const struct symstore *symstore;  /* pjrecord's symbol store, which is searched first; NULL: none */
	bool local; /* without a build-id, a file of this machine may be used if its path is equal */
};

struct dsofiles_query {
	/* path of the file, as in the mapping record */
	struct str path;
	/* Build-id of the file; n is 0 if it is unknown. */
	struct build_id build_id;
	/* File id of the mapped file; 0 if it is unknown. */
	struct file_id numbers;
	/* Time until which the file at the path must be unchanged without a build-id: provenance.until. */
	uint64_t until;
	/* PID of a recorded process that maps the file. It selects the tenant in the symbol store. */
	uint32_t pid;
	/* The path is valid in a container, not on the recorded host. */
	bool elsewhere;
	/* PID of a living process, proven to be the sampled one, below whose root the path is looked up; 0: none. */
	pid_t live;
};

/* Looks up q[0..n) (file offsets, ascending) in the files, in perf's order. Returns the reason for lookups without a
 * name. */
enum dso_reason dsofiles_resolve(const struct dsofiles_options *options, const struct dsofiles_query *query,
				 struct symbols_query *q, size_t n, struct intern *names);

#endif
