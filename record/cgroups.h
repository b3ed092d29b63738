/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroups.h - what the number in a sample (PERF_SAMPLE_CGROUP) is called.
 *
 * The number is the inode of the cgroup's directory in the hierarchy of perf_event: its own where it is mounted as version
 * 1, else that of version 2. Those there are at the start are read from it; the kernel tells of new ones (CGROUP
 * records); a number that is still unknown has it read again, not more than once in a while.
 */
#ifndef PJ_CGROUPS_H
#define PJ_CGROUPS_H

#include "str.h"

struct cgroup {
	uint64_t id;
	struct str path; /* from the root of the hierarchy, "/" is the root */
	uint64_t window; /* serial + 1 of the last window that has it */
};

struct cgroups;

struct cgroups *cgroups_new(void);
void cgroups_free(struct cgroups *g);

void cgroups_add(struct cgroups *g, uint64_t id, struct str path);

/* NULL: nobody knows. Valid until the next call. now_ns bounds how often the hierarchy is read. */
struct cgroup *cgroups_find(struct cgroups *g, uint64_t id, uint64_t now_ns);

/* Forgets those that no window since serial had, when there are many. */
void cgroups_forget(struct cgroups *g, uint64_t serial);

/* Where the hierarchy is: text of /proc/self/mountinfo. Mount point and the path of what is mounted there, as the kernel
 * escapes them. False: not mounted. Pure. */
bool cgroups_parse_mountinfo(struct str mountinfo, struct str *point, struct str *root);

#endif
