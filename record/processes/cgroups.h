/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroups.h - what the number in a sample (PERF_SAMPLE_CGROUP) is called.
 *
 * The number is the inode of the cgroup's directory in the hierarchy of perf_event: its own where it is mounted as
 * version 1, else that of version 2. Those there are at the start are read from it; the kernel tells of new ones
 * (CGROUP records); a number that is still unknown has it read again, not more than once in a while.
 *
 * A user with a delegated cgroup (systemd gives one to each that logs in) can make and remove 10,000 a second in it,
 * with paths of 4 kB. So 16 MB are kept at most, first those that the latest window has; of what only records announced
 * 4 MB; the hierarchy is read from the top, to 4,000 cgroups of users at most, and for 5 % of the time.
 */
#ifndef PJ_CGROUPS_H
#define PJ_CGROUPS_H

#include "common/str.h"

struct cgroup {
	uint64_t id;
	struct str path; /* from the root of the hierarchy, "/" is the root */
	uint64_t window; /* serial + 1 of the last window that has it */
	bool announced;  /* by a record; false: read from the hierarchy */
};

struct cgroups;

struct cgroups *cgroups_new(void);
void cgroups_free(struct cgroups *cgroups);

/* From a record. */
void cgroups_add(struct cgroups *cgroups, uint64_t id, struct str path);

/* NULL: nobody knows. Valid until the next call. now_ns bounds how often the hierarchy is read. */
struct cgroup *cgroups_find(struct cgroups *cgroups, uint64_t id, uint64_t now_ns);

/* Memory of all that are known. */
size_t cgroups_bytes(const struct cgroups *cgroups);

/* Forgets those that no window since serial had, when there are many. */
void cgroups_forget(struct cgroups *cgroups, uint64_t serial);

/* Where the hierarchy is: text of /proc/self/mountinfo. Mount point and the path of what is mounted there, as the
 * kernel escapes them. False: not mounted. Pure. */
bool cgroups_parse_mountinfo(struct str mountinfo, struct str *point, struct str *root);

#endif
