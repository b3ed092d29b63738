/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locationcache.h - looks up the location of an instruction pointer of a thread at a time.
 *
 * Most instruction pointers have been looked up before with the same mappings; a direct-mapped cache of 512 kB answers
 * these lookups. A JIT replaces code, so the location of its code depends on the time: a timeline of pjmap or a jitdump
 * gives the code at that time, and such lookups are not cached. This module opens a jitdump at the MMAP record that
 * shows its mapping.
 */
#ifndef PJ_LOCATIONCACHE_H
#define PJ_LOCATIONCACHE_H

#include "fold/symbolized/symbolizedwriter.h"
#include "fold/symbols/symstore.h"
#include "fold/samples/inputerrors.h"
#include "fold/symbols/provenance.h"
#include "fold/process/addrspace.h"
#include "fold/process/locations.h"
#include "fold/jit/timelines.h"

/* The cache and its sources of names. The owner sets the members up to `piped`, `timelines` and `monotonic`. */
struct locationcache {
	struct addrspace *as;
	struct locations *locations;
	/* Folder with copies of the recorded machine's files (--symfs), or NULL. */
	const char *symfs;
	/* pjrecord's symbol store, or NULL. */
	const struct symstore *symstore;
	/* pjrecord's sections in the recording; the JVM code in them is preferred to the code in timelines. NULL:
	 * sections are not used. */
	const struct recorder *recorder;
	/* pjpack's writer, which stores the code blobs that lookups find in jitdumps and timelines; NULL in other
	 * tools. */
	struct symbolizedwriter *packed;
	/* True: each address without a source of names gets its own location. False: all addresses of a DSO without a
	 * source of names share one location. */
	bool addresses;
	/* True: the recording is in pipe mode, so names of code in `recorder` may follow the first samples of the code.
	 */
	bool piped;
	/* The cache: KNOWN entries; NULL before the first lookup. */
	struct place_known *known;
	/* Open jitdumps; locationcache_free closes them. */
	struct jitdump **jitdump;
	size_t njitdumps;
	/* Number of damaged jitdump records and of jitdumps that cannot be read, and a message about the first. */
	struct input_errors errors;
	/* pjmap's timelines of JVMs. */
	struct timelines timelines;
	/* True if samples have times of CLOCK_MONOTONIC, the clock of the timelines and of the window's code. */
	bool monotonic;
	/* Numbers of lookups of JVM code in timelines, by the certainty of the result (enum timeline_sure). */
	uint64_t lookups[TIMELINE_AMBIGUOUS + 1];
};

/* Returns the location id (locations.h) of instruction pointer ip of a thread. `mode` selects the mappings of the
 * kernel or of the thread; `time`, in ns, selects among the code blobs that a JIT had at this address. */
uint32_t locationcache_locate(struct locationcache *locations, const struct addrspace_thread *thread,
			      enum perfdata_mode mode, uint64_t ip, uint64_t time);

/* Opens the jitdump that this MMAP record maps, if the record maps a jitdump and the process has no open jitdump yet.
 * All later lookups in that process use this jitdump. To be called with each MMAP record. A jitdump that cannot be read
 * is counted in locations->errors. `origin` decides if files of this machine are used; `info` has the clock of the
 * samples, by which lookups at a time are possible. */
void locationcache_map(struct locationcache *locations, const struct perfdata_record *record,
		       const struct provenance *origin, const struct perfdata_info *info);

/* Closes the jitdumps and timelines and frees the cache. Locations of code that they contain become invalid. */
void locationcache_free(struct locationcache *locations);

#endif
