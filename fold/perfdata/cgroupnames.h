/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroupnames.h - map from the cgroup id of a sample to the path of that cgroup.
 *
 * PERF_RECORD_CGROUP records give the path of an id. The caller feeds them in order of time, between the samples, so
 * that a lookup returns the path that was valid at the time of the sample. An id without a record has no path. A struct
 * of zeros is an empty map.
 */
#ifndef PJ_CGROUPNAMES_H
#define PJ_CGROUPNAMES_H

#include "common/intern.h"

struct cgroupnames {
	/* Cgroup ids that have a path; each key is the 8 bytes of an id. */
	struct intern ids;
	/* path[i]: path of the cgroup whose id has the number i in `ids`. cap: capacity of `path` in elements. paths:
	 * owner of the texts. */
	struct str *path;
	size_t cap;
	struct intern paths;
};

/* Sets the path of the cgroup with id `number`, for lookups from now on. The text of `path` is copied. */
void cgroupnames_add(struct cgroupnames *cgroups, uint64_t number, struct str path);

/* Returns the path of the cgroup with id `number`; empty if no path was added for it. The text is valid until
 * cgroupnames_free(). */
struct str cgroupnames_path(const struct cgroupnames *cgroups, uint64_t number);

/* Frees all memory and resets the struct to an empty map. */
void cgroupnames_free(struct cgroupnames *cgroups);

#endif
