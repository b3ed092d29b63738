/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/lookupjobs.h"

#include <stdlib.h>

/* Maximum number of locations in a job for locations outside of DSOs; more locations become several jobs. */
#define OWN_NAMES_MAX 4096u

/* Returns an array indexed by DSO: index of the DSO whose job includes the locations of this DSO. All DSOs of the
 * kernel share the job of the first kernel DSO, because one pass over kallsyms finds all their names. The caller frees
 * the array. */
static uint32_t *job_keys(const struct addrspace *addrspace)
{
	uint32_t *key = mem_alloc(sizeof(*key), (size_t)addrspace->keys.n + 1), kernel = 0;

	for (uint32_t d = 0; d <= addrspace->keys.n; d++) {
		key[d] = d;
		if (addrspace->dso[d].kind != DSO_KERNEL)
			continue;
		kernel = kernel ? kernel : d;
		key[d] = kernel;
	}
	return key;
}

/* Compares jobs for qsort(): jobs with more locations first, so that all threads end at about the same time. */
static int job_cmp(const void *left, const void *right)
{
	const struct lookupjob *job = left, *b = right;

	if (job->n != b->n)
		return job->n < b->n ? 1 : -1;
	return job->from < b->from ? -1 : 1;
}

/* Returns the group of a location: key[], the result of job_keys(), for the DSO that contains the location; `ndsos` for
 * a location outside of DSOs. */
static uint32_t group_of(const struct location *location, const uint32_t *key, uint32_t ndsos)
{
	return location->kind == LOCATION_IN_DSO ? key[location->dso] : ndsos;
}

void lookupjobs_make(struct lookupjobs *jobs, const struct addrspace *addrspace, const struct locations *locations)
{
	uint32_t *key = job_keys(addrspace), ndsos = addrspace->keys.n + 1, at = 0;
	uint32_t *first = mem_alloc(sizeof(*first), (size_t)ndsos + 2);

	for (uint32_t id = 1; id <= locations->n; id++)
		first[group_of(&locations->location[id], key, ndsos) + 1]++;
	jobs->job = mem_alloc(sizeof(*jobs->job), (size_t)ndsos + first[ndsos + 1] / OWN_NAMES_MAX + 1);
	for (uint32_t d = 0; d < ndsos; d++) {
		if (first[d + 1])
			jobs->job[jobs->n++] = (struct lookupjob){ true, d, at, first[d + 1] };
		at += first[d + 1];
		first[d + 1] = at;
	}
	for (uint32_t left = first[ndsos + 1], n; left; left -= n, at += n) {
		n = left < OWN_NAMES_MAX ? left : OWN_NAMES_MAX;
		jobs->job[jobs->n++] = (struct lookupjob){ .from = at, .n = n };
	}
	jobs->location = mem_alloc(sizeof(*jobs->location), locations->n);
	for (uint32_t id = 1; id <= locations->n; id++)
		jobs->location[first[group_of(&locations->location[id], key, ndsos)]++] = id;
	qsort(jobs->job, jobs->n, sizeof(*jobs->job), job_cmp);
	free(first);
	free(key);
}

void lookupjobs_sort(const struct locations *locations, uint32_t *id, uint32_t *spare, uint32_t n)
{
	uint64_t all = 0, base = n ? locations->location[id[0]].address : 0;
	uint32_t *from = id, *to = spare;

	for (uint32_t i = 0; i < n; i++)
		all |= locations->location[id[i]].address ^ base;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		uint32_t at[257] = { 0 }, *swap;

		if ((all >> shift & 255) == 0)
			continue;
		for (uint32_t i = 0; i < n; i++)
			at[(locations->location[from[i]].address >> shift & 255) + 1]++;
		for (unsigned b = 0; b < 256; b++)
			at[b + 1] += at[b];
		for (uint32_t i = 0; i < n; i++)
			to[at[locations->location[from[i]].address >> shift & 255]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (from != id)
		memcpy(id, from, n * sizeof(*id));
}

void lookupjobs_free(struct lookupjobs *jobs)
{
	free(jobs->location);
	free(jobs->job);
}
