/* SPDX-License-Identifier: Apache-2.0 */
/* lookupjobs.h - parts of the work of finding names, for threads: the locations of one DSO are looked up together. */
#ifndef PJ_LOOKUPJOBS_H
#define PJ_LOOKUPJOBS_H

#include "fold/process/addrspace.h"
#include "fold/process/locations.h"

/* Locations that one thread handles: those of one DSO, or of all DSOs of the kernel, or some thousand locations that
 * need no lookup in a DSO. */
struct lookupjob {
	bool in_dso;
	uint32_t dso; /* if in_dso: the DSO of the locations, or the first DSO of the kernel */
	/* The locations of the job are lookupjobs.location[from] and the following, n in total. */
	uint32_t from, n;
};

struct lookupjobs {
	/* Ids of all locations, grouped by job. */
	uint32_t *location;
	/* The n jobs, the largest first. */
	struct lookupjob *job;
	uint32_t n;
};

/* Groups the locations by DSO, and makes a job for each DSO (one for the kernel), and jobs for the locations outside of
 * DSOs. The caller frees *jobs by lookupjobs_free. */
void lookupjobs_make(struct lookupjobs *jobs, const struct addrspace *addrspace, const struct locations *locations);

/* Sorts n location ids by address: radix sort by bytes, from the least significant one. Skips bytes that are equal in
 * all addresses. `spare` is scratch space for n ids. */
void lookupjobs_sort(const struct locations *locations, uint32_t *id, uint32_t *spare, uint32_t n);

void lookupjobs_free(struct lookupjobs *jobs);

#endif
