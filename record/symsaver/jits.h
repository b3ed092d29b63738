/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jits.h - table of processes that generate code, with copies of the files that describe the code: perf maps and
 * jitdumps.
 *
 * The perf map of a process is /tmp/perf-INNERPID.map in its root directory. While the map does not exist, it is looked
 * up often at first, then ever less often. A jitdump is known from its mapping. Map and jitdump must be regular files
 * that belong to the process's user or to root: a link in /tmp could lead to files that only root may read. The table
 * holds JITS_MAX processes. Beyond that, the least recently reported process of the tenant with the most processes is
 * dropped. The copies of a tenant are in one folder, whose bytes are part of the tenant's share of the disk
 * (saversweep.h). CPU time and bytes of copies are charged to the tenant (saverbudget.h).
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
	/* Number of files by event. JITS_SAVED: files whose copy has begun. Other events: files that could not be
	 * copied, by reason. */
	uint64_t count[JITS_EVENTS];
	/* Called with the process before its files are accessed; returns false if the files must not be accessed now.
	 * Called with process -1 after the access; the result is then ignored. NULL: not called. */
	bool (*enter)(void *to, uint64_t mount_ns, int process);
	void *to;
	/* time in ns of CLOCK_MONOTONIC at which all copying must end, once the symbol saver ends; 0 before */
	uint64_t deadline;
};

/* Adds a process that generates code, and looks for its perf map. The recorder reports each of these processes once in
 * each window. start: start time in clock ticks since boot. mount_ns: inode of the mount namespace. now: ns of
 * clock_now(). */
void jits_see(struct jits *jits, uint32_t pid, uint64_t start, uint64_t mount_ns, uint64_t now);

/* Adds a process that has mapped a jitdump, and starts to copy the jitdump of `mapping`. The other parameters are those
 * of jits_see. */
void jits_dump(struct jits *jits, uint32_t pid, uint64_t start, uint64_t mount_ns, const struct target_mapping *mapping,
	       uint64_t now);

/* Copies the rest of the files of a process that has ended, and removes the process. */
void jits_exit(struct jits *jits, uint32_t pid, uint64_t now);

/* Copies new bytes of all files. Call it every half second while jits->n is not 0. */
void jits_tick(struct jits *jits, uint64_t now);

/* Copies the rest of all files within 0.5 s, then frees the entries of the table. To be called when the symbol saver
 * ends. */
void jits_free(struct jits *jits, uint64_t now);

#endif
