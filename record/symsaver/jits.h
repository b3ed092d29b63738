/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jits.h - processes that generate code, and copies of the files that describe it: perf maps and jitdumps.
 *
 * The map of a process is /tmp/perf-INNERPID.map in its root. It is looked up often at first, then ever less while
 * there is none; a jitdump is announced by its mapping. Both must be plain files of the process's user or root: a link
 * in /tmp could lead to files that only root may read. The table and its descriptors are bounded: beyond the limit, the
 * least recently seen process of the tenant with the most processes is dropped. The copies of a tenant are in one
 * folder, which counts for its share of the disk (saversweep.h), and cost it CPU time and bytes (saverbudget.h).
 */
#ifndef PJ_JITS_H
#define PJ_JITS_H

#include "record/symsaver/targetfiles.h"
#include "record/jit/jitcopy.h"
#include "record/symsaver/saverdir.h"

#define JITS_MAX 256

struct jit;

enum jits_event {
	JITS_SAVED,
	JITS_LARGE,
	JITS_UNTRUSTED,
	JITS_FORBIDDEN,
	JITS_DISK,
	JITS_GONE,
	JITS_OTHER,
	JITS_SLOW,
	JITS_BUDGET,
	JITS_EVENTS
};

struct jits {
	struct saverdir *dir;
	struct targetfiles_roots *roots;
	const char *proc;
	struct jitcopy_limits limits;
	struct jit *jit[JITS_MAX];
	size_t n;
	/* number of files by event: for JITS_SAVED files whose copy has begun, for other events files that were given
	 * up */
	uint64_t count[JITS_EVENTS];
	/* Called before the files of a process are accessed. Returns false if they must not be accessed now. After the
	 * access it is called with process -1. May be NULL. */
	bool (*enter)(void *to, uint64_t mount_ns, int process);
	void *to;
	/* time at which all copying must end, in ns of CLOCK_MONOTONIC, once the symbol saver ends; 0 before */
	uint64_t deadline;
};

/* Notes that a process generates code, and looks for its map. The recorder reports each such process in each window.
 * mount_ns as in struct symsaver_process. */
void jits_see(struct jits *jits, uint32_t pid, uint64_t start, uint64_t mount_ns, uint64_t now);

/* Notes that a process has mapped a jitdump, and starts to copy it. */
void jits_dump(struct jits *jits, uint32_t pid, uint64_t start, uint64_t mount_ns, const struct target_mapping *mapping,
	       uint64_t now);

/* Copies the rest of the files of a process that has ended, and forgets the process. */
void jits_exit(struct jits *jits, uint32_t pid, uint64_t now);

/* Copies new bytes of all files. Call it every half second while n is not 0. */
void jits_tick(struct jits *jits, uint64_t now);

/* Copies the rest of all files within END_NS, because the symbol saver ends, and frees the table. */
void jits_free(struct jits *jits, uint64_t now);

#endif
