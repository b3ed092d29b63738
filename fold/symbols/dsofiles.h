/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dsofiles.h - which files tell the names of a DSO: perf's search order, with a build-id check at every step; and
 * before it, what pjrecord kept.
 *
 * A file of another build is worse than none: it is refused, and the reason is told. Files below /proc/PID/root are
 * only used when the caller says that this is the process that was sampled (live), and are opened so that nothing in a
 * container can lead outside of it (openat2, RESOLVE_IN_ROOT, no magic links; regular files only).
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
	DSO_STRIPPED,
	DSO_NOT_ELF,
	DSO_FORBIDDEN,
	DSO_SILENT /* its file system does not answer */
};

/* What came of the question for inlined calls. */
struct dsofiles_inlined {
	bool is_requested;
	bool found;      /* debug information */
	const char *why; /* it was not all; or NULL */
};

struct dsofiles_options {
	struct elfsyms_options elf;
	struct dsofiles_inlined *inlined; /* or NULL: nobody wants to know */
	const char *symfs;                /* prefix for all paths, or NULL */
	const char *debug_dir;            /* ~/.debug, or NULL: $HOME/.debug (perf's buildid cache) */
	const struct symstore *symstore;  /* what pjrecord kept is asked first; or NULL */
	bool local; /* files of this machine by path may be used when they have no build-id to check against */
};

struct dsofiles_query {
	struct str path;          /* as the mapping says */
	struct build_id build_id; /* n == 0: not known */
	struct file_id numbers;   /* of the file that was mapped; 0: not known */
	uint32_t pid;             /* one that has it mapped, as recorded: whose kept file it is */
	bool elsewhere;           /* path is not one of the recorded machine, but of a container */
	pid_t live;               /* a process, alive and proven to be the sampled one, in whose root path is; or 0 */
};

/* Asks the files in perf's order for q[0..n) (file offsets, ascending). Returns why what is left unanswered is so. */
enum dso_reason dsofiles_resolve(const struct dsofiles_options *options, const struct dsofiles_query *query,
				 struct symbols_query *q, size_t n, struct intern *names);

#endif
