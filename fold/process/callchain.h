/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callchain.h - pushes the addresses of a callchain as frames of the open sample.
 *
 * Context markers (PERF_CONTEXT_KERNEL and others) in a callchain select the mode of the addresses after them. The
 * address of a caller is its return address. The call instruction before it may be the last instruction of its
 * function, so callers are looked up at return address - 1. A damaged callchain may contain unknown markers: values in
 * the range of context markers that have no meaning.
 */
#ifndef PJ_CALLCHAIN_H
#define PJ_CALLCHAIN_H

#include "fold/process/locationcache.h"
#include "fold/samples/samples.h"

/* State of the push functions below. The owner of the struct sets all members but `garbage`. */
struct callchain {
	struct locationcache *locationcache; /* looks up the locations of addresses */
	struct samples *to;                  /* frames are pushed to its open sample */
	/* True: as in perf script, callers are looked up at their return address, and callchains with an unknown marker
	 * or a marker of a guest are dropped. */
	bool as_perf;
	/* Description of the recording; only its architecture is used. */
	const struct perfdata_info *info;
	/* Number of callchains with an unknown marker. The frames before the marker are pushed; with as_perf, no frame
	 * is pushed. */
	uint64_t garbage;
};

/* Pushes the frames of record, a sample: from its LBR call stack (branches.h) if it has one, otherwise from its
 * callchain. */
void callchain_push(struct callchain *callchain, const struct addrspace_thread *thread,
		    const struct perfdata_record *record);

/* Pushes the frames of ips[0..n), a part of a callchain with its context markers. Addresses before the first marker are
 * in user mode. The first address, and the first address after each marker, is an interrupted address; all other
 * addresses are return addresses. `time` is the time of the sample in ns. */
void callchain_push_part(struct callchain *callchain, const struct addrspace_thread *thread, const uint64_t *ips,
			 uint64_t n, uint64_t time);

/* Pushes the location of the interrupted address `ip`. `mode` is the mode of the CPU at the interrupt, `time` the time
 * of the sample in ns. A precise event (PEBS, IBS) gives the address of an earlier instruction, which may have run in
 * the other mode. On x86-64 and aarch64, where kernel addresses have the highest bit set, the address decides between
 * kernel and user mode; with as_perf, `mode` is used as it is. */
void callchain_push_interrupted(struct callchain *callchain, const struct addrspace_thread *thread,
				enum perfdata_mode mode, uint64_t ip, uint64_t time);

/* Returns the number of addresses in ips[0..n): the values that are not in the range of context markers. */
uint64_t callchain_addresses(const uint64_t *ips, uint64_t n);

/* Pushes the location of instruction pointer ip at `time` (ns) as one frame. */
static inline void callchain_push_ip(struct callchain *callchain, const struct addrspace_thread *thread,
				     enum perfdata_mode mode, uint64_t ip, uint64_t time)
{
	samples_push(callchain->to,
		     locationcache_locate(callchain->locationcache, thread, mode, ip, time) | LOCATION_BIT);
}

#endif
