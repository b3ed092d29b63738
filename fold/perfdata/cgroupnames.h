/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroupnames.h - what the number of a cgroup in a sample is called: its path, as records told it until then.
 *
 * Fed with the records of a recording in order of time. A number that no record told has no path.
 */
#ifndef PJ_CGROUPNAMES_H
#define PJ_CGROUPNAMES_H

#include "common/intern.h"

struct cgroupnames {
	struct intern ids; /* the 8 bytes of a number */
	struct str *path;  /* by id */
	size_t cap;
	struct intern paths;
};

/* From now on. */
void cgroupnames_add(struct cgroupnames *cgroups, uint64_t number, struct str path);

/* Empty: not known. Lives as long as cgroups. */
struct str cgroupnames_path(const struct cgroupnames *cgroups, uint64_t number);

void cgroupnames_free(struct cgroupnames *cgroups);

#endif
