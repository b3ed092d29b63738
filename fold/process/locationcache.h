/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locationcache.h - which place in code an address of a thread was, at a moment.
 *
 * Answers are sites. Most addresses were met before, under the same maps: a direct-mapped cache knows them. What a JIT
 * put at an address depends on the time; the jitdumps that say so are opened here when they are mapped.
 */
#ifndef PJ_LOCATIONCACHE_H
#define PJ_LOCATIONCACHE_H

#include "fold/symbols/symstore.h"
#include "fold/samples/inputerrors.h"
#include "fold/symbols/provenance.h"
#include "fold/process/locations.h"
#include "fold/jit/timelines.h"

struct locationcache {
	struct addrspace *as;
	struct locations *locations;
	const char *symfs;
	const struct symstore *symstore; /* of pjrecord, or NULL */
	bool addresses;                  /* where nothing will be known, addresses are told apart all the same */
	bool jit_clock;                  /* times are those of jitdumps, too */
	struct place_known *known;
	struct jitdump **jitdump;
	size_t njitdumps;
	struct input_errors errors; /* records of jitdumps, or whole files */
	struct timelines timelines;
	bool monotonic;                                /* times are those of timelines, too */
	uint64_t is_requested[TIMELINE_AMBIGUOUS + 1]; /* addresses in code of JVMs, by how sure the answer was */
};

/* The site of ip in thread thread, in a mode, at a time. */
uint32_t locationcache_locate(struct locationcache *locations, const struct addrspace_thread *thread,
			      enum perfdata_mode mode, uint64_t ip, uint64_t time);

/* record is a mapping: if it is the mark of a jitdump, that is opened, and asked from now on. */
void locationcache_map(struct locationcache *locations, const struct perfdata_record *record,
		       const struct provenance *origin, const struct perfdata_info *info);

/* What jitdumps told is gone then: sites of code in them mean nothing any more. */
void locationcache_free(struct locationcache *locations);

#endif
