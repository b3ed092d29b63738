/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callchain.h - pushes the addresses of a callchain as frames of the open sample.
 *
 * Context markers (PERF_CONTEXT_KERNEL and others) among the addresses select the mode of the following ones. Callers
 * have their return address; the call instruction is before it and may be the last one of its function, so names are
 * looked up at address - 1. Damaged callchains contain values that look like markers and are none.
 */
#ifndef PJ_CALLCHAIN_H
#define PJ_CALLCHAIN_H

#include "fold/process/locationcache.h"
#include "fold/samples/samples.h"

struct callchain {
	struct locationcache *places;
	struct samples *to;
	/* Do as perf script: look up callers at their return address, drop callchains with an unknown marker. */
	bool as_perf;
	/* Of the recording; for its processor. */
	const struct perfdata_info *info;
	/* Number of callchains with an unknown marker. The frames before the marker are used; with as_perf none are. */
	uint64_t garbage;
};

/* Pushes the callchain of record, or its LBR call stack (branches.h). */
void callchain_push(struct callchain *callchain, const struct addrspace_thread *thread,
		    const struct perfdata_record *record);

/* Pushes ips[0..n), markers included; the first address is an interrupted one in user mode unless a marker precedes it.
 */
void callchain_push_part(struct callchain *callchain, const struct addrspace_thread *thread, const uint64_t *ips,
			 uint64_t n, uint64_t time);

/* Pushes the location of an interrupted address. The mode is that of the interrupt; the address of a precise event is
 * from an earlier instruction, in user code perhaps where the mode is that of the kernel: the address decides, where
 * the processor divides the addresses in two halves. */
void callchain_push_interrupted(struct callchain *callchain, const struct addrspace_thread *thread,
				enum perfdata_mode mode, uint64_t ip, uint64_t time);

/* Returns the number of entries that are no context markers. */
uint64_t callchain_addresses(const uint64_t *ips, uint64_t n);

/* Pushes the location of one instruction pointer. */
static inline void callchain_push_ip(struct callchain *callchain, const struct addrspace_thread *thread,
				     enum perfdata_mode mode, uint64_t ip, uint64_t time)
{
	samples_push(callchain->to, locationcache_locate(callchain->places, thread, mode, ip, time) | LOCATION_BIT);
}

#endif
