/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callchain.h - pushes the addresses of a callchain as frames of the open sample.
 *
 * Context markers (PERF_CONTEXT_KERNEL and others) in a callchain select the mode of the addresses after them. The
 * address of a caller is its return address. The call instruction before it may be the last instruction of its
 * function, so callers are looked up at return address - 1. A damaged callchain may contain unknown markers: values in
 * the range of context markers that are none of them.
 */
#ifndef PJ_CALLCHAIN_H
#define PJ_CALLCHAIN_H

#include "fold/process/locationcache.h"
#include "fold/samples/samples.h"

/* The source of locations, and the destination of frames; the owner sets all members but `garbage`. */
struct callchain {
	struct locationcache *places;
	struct samples *to;
	/* Do as perf script: look up callers at their return address, and drop callchains with an unknown marker or a
	 * marker of a guest. */
	bool as_perf;
	/* Description of the recording; only its architecture is used. */
	const struct perfdata_info *info;
	/* Number of callchains with an unknown marker. Frames before the marker are pushed; with as_perf none. */
	uint64_t garbage;
};

/* Pushes the frames of record, a sample: from its LBR call stack (branches.h), else from its callchain. */
void callchain_push(struct callchain *callchain, const struct addrspace_thread *thread,
		    const struct perfdata_record *record);

/* Pushes the frames of ips[0..n), a part of a callchain with its context markers. Addresses before the first marker are
 * in user mode. The first address, and the first one after each marker, is an interrupted address; the others are
 * return addresses. */
void callchain_push_part(struct callchain *callchain, const struct addrspace_thread *thread, const uint64_t *ips,
			 uint64_t n, uint64_t time);

/* Pushes the location of an interrupted address. `mode` is the mode of the CPU at the interrupt. A precise event (PEBS,
 * IBS) gives the address of an earlier instruction, which may have run in the other mode. On x86-64 and aarch64, where
 * kernel addresses have the highest bit set, the address decides between kernel and user mode; with as_perf `mode`
 * does.
 */
void callchain_push_interrupted(struct callchain *callchain, const struct addrspace_thread *thread,
				enum perfdata_mode mode, uint64_t ip, uint64_t time);

/* Returns the number of addresses in ips[0..n): the values that are not in the range of context markers. */
uint64_t callchain_addresses(const uint64_t *ips, uint64_t n);

/* Pushes the location of instruction pointer ip as one frame. */
static inline void callchain_push_ip(struct callchain *callchain, const struct addrspace_thread *thread,
				     enum perfdata_mode mode, uint64_t ip, uint64_t time)
{
	samples_push(callchain->to, locationcache_locate(callchain->places, thread, mode, ip, time) | LOCATION_BIT);
}

#endif
