/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callchain.h - the addresses of a callchain become frames of the open sample.
 *
 * Between the addresses stand marks: what follows is of the kernel, of the user, of a guest. Callers are there with the
 * address that they return to; the call is before it, and may be the last that its function does. In damaged stacks are
 * addresses that look like marks, and are none.
 */
#ifndef PJ_CALLCHAIN_H
#define PJ_CALLCHAIN_H

#include "fold/process/locationcache.h"
#include "fold/samples/samples.h"

struct callchain {
	struct locationcache *places;
	struct samples *to;
	bool as_perf;     /* callers are where they return to; a stack with a mark that is none is dropped */
	uint64_t garbage; /* stacks with a mark that is none: what comes before it was used (as_perf: nothing) */
};

/* The callchain of record, with what the processor kept of it (branches.h). */
void callchain_push(struct callchain *callchain, const struct addrspace_thread *thread,
		    const struct perfdata_record *record);

/* A part of a callchain. */
void callchain_push_part(struct callchain *callchain, const struct addrspace_thread *thread, const uint64_t *ips,
			 uint64_t n, uint64_t time);

/* How many of them are addresses. */
uint64_t callchain_addresses(const uint64_t *ips, uint64_t n);

/* One frame. */
static inline void callchain_push_ip(struct callchain *callchain, const struct addrspace_thread *thread,
				     enum perfdata_mode mode, uint64_t ip, uint64_t time)
{
	samples_push(callchain->to, locationcache_locate(callchain->places, thread, mode, ip, time) | LOCATION_BIT);
}

#endif
