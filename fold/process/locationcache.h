/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locationcache.h - looks up the location of an instruction pointer of a thread at a time.
 *
 * Most instruction pointers have been looked up before with the same mappings; a direct-mapped cache of 512 kB answers
 * these. Code of a JIT depends on the time: a timeline of pjmap, or a jitdump, which this module opens when the
 * recording maps it, gives the code at that time. Such answers are not cached.
 */
#ifndef PJ_LOCATIONCACHE_H
#define PJ_LOCATIONCACHE_H

#include "fold/symbols/symstore.h"
#include "fold/samples/inputerrors.h"
#include "fold/symbols/provenance.h"
#include "fold/process/addrspace.h"
#include "fold/process/locations.h"
#include "fold/jit/timelines.h"

/* The owner sets the first five members, and `monotonic`. */
struct locationcache {
	struct addrspace *as;
	struct locations *locations;
	/* Folder in which files of the recorded machine are, or NULL. */
	const char *symfs;
	/* pjrecord's symbol store, or NULL. */
	const struct symstore *symstore;
	/* Its code of JVMs is used before that of timelines; NULL: not used. */
	const struct recorder *recorder;
	/* Addresses without any source of names get a location each, not one for all. */
	bool addresses;
	/* Samples are on the clock of the jitdumps. */
	bool jit_clock;
	struct place_known *known;
	struct jitdump **jitdump;
	size_t njitdumps;
	/* Damaged records of jitdumps, and jitdumps that cannot be read. */
	struct input_errors errors;
	struct timelines timelines;
	/* Samples are on the clock of the timelines. */
	bool monotonic;
	/* Lookups of code of JVMs in timelines, by the certainty of the answer. */
	uint64_t lookups[TIMELINE_AMBIGUOUS + 1];
};

/* Returns the id (locations.h) of the location of ip in a thread. `mode` selects the mappings of the kernel or of the
 * thread; `time` in ns selects the code of JITs. */
uint32_t locationcache_locate(struct locationcache *locations, const struct addrspace_thread *thread,
			      enum perfdata_mode mode, uint64_t ip, uint64_t time);

/* To be called for each MMAP record: opens the jitdump if the mapping is the marker of one, for all later lookups in
 * that process. */
void locationcache_map(struct locationcache *locations, const struct perfdata_record *record,
		       const struct provenance *origin, const struct perfdata_info *info);

/* Frees what *locations owns. Locations of code in jitdumps point into these, so they become invalid. */
void locationcache_free(struct locationcache *locations);

#endif
