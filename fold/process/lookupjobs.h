/* SPDX-License-Identifier: Apache-2.0 */
/* lookupjobs.h - divides the lookup of names into jobs for threads: one job has all locations of one DSO. */
#ifndef PJ_LOOKUPJOBS_H
#define PJ_LOOKUPJOBS_H

#include "fold/process/addrspace.h"
#include "fold/process/locations.h"

/* Set of locations that one thread handles together: all locations of one DSO, all locations in the kernel, or up to
 * 4,096 locations that need no lookup in a DSO. */
struct lookupjob {
	bool in_dso; /* true: the locations are in a DSO; false: they need no lookup in a DSO */
	/* if in_dso is true: index of the DSO of the locations; for the kernel, index of its first DSO */
	uint32_t dso;
	/* from: index in lookupjobs.location of the first location of the job. n: number of its locations. */
	uint32_t from, n;
};

struct lookupjobs {
	/* Ids of all locations, grouped by job. */
	uint32_t *location;
	/* Jobs, the largest first; n elements. */
	struct lookupjob *job;
	uint32_t n;
};

/* Makes one job for each DSO that has locations (one job for all DSOs of the kernel), and jobs for the locations
 * outside of DSOs. The caller frees *jobs with lookupjobs_free(). */
void lookupjobs_make(struct lookupjobs *jobs, const struct addrspace *addrspace, const struct locations *locations);

/* Sorts id[0..n), location ids, by address: byte-wise radix sort, from the least significant byte. Skips bytes that are
 * equal in all addresses. spare: scratch space for n ids. */
void lookupjobs_sort(const struct locations *locations, uint32_t *id, uint32_t *spare, uint32_t n);

void lookupjobs_free(struct lookupjobs *jobs);

#endif
