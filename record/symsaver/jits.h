/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jits.h - the processes that make code at run time, and the copies of what they write about it.
 *
 * A map is looked for as /tmp/perf-INNERPID.map in the root of the process, often at first, ever more rarely when there
 * is none; a jitdump is known from its mapping. Both must be plain files of that user or root: a link in /tmp could
 * lead to what only root may read. The table is bounded, and so are descriptors: of too many, the process of the tenant
 * that has most of them which was seen longest ago is dropped. Copies of one tenant lie in a folder of their own, which
 * counts for its share of the disk (saversweep.h), and cost it CPU time and bytes (saverbudget.h).
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
	uint64_t count[JITS_EVENTS]; /* KEPT: files that were begun; else things that were given up */
	/* Called before files of a process are touched; false: they must not be, for now. process -1: done. May be
	 * NULL. */
	bool (*enter)(void *to, uint64_t mount_ns, int process);
	void *to;
	uint64_t deadline; /* of the end of the tool; 0: it goes on */
};

/* It makes code; in each window again. mount_ns: as in symsaver.h. */
void jits_see(struct jits *jits, uint32_t pid, uint64_t start, uint64_t mount_ns, uint64_t now);

/* It mapped a jitdump. */
void jits_dump(struct jits *jits, uint32_t pid, uint64_t start, uint64_t mount_ns, const struct target_mapping *mapping,
	       uint64_t now);

/* It ended: what is left is copied. */
void jits_exit(struct jits *jits, uint32_t pid, uint64_t now);

/* Copies what is new. To be called every half second while n is not 0. */
void jits_tick(struct jits *jits, uint64_t now);

/* As if all had ended; in short time, as the tool ends. */
void jits_free(struct jits *jits, uint64_t now);

#endif
