/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroups.h - paths of cgroups by the id in a sample (PERF_SAMPLE_CGROUP).
 *
 * The id is the inode of the cgroup's directory in the hierarchy of perf_event: the one of version 1 if it is
 * mounted, else that of version 2. Existing cgroups are read from the hierarchy at the start; CGROUP records of the
 * kernel announce new ones; an id that is still unknown causes another reading, but not more than once in a while.
 *
 * A user with a delegated cgroup (systemd gives one to each that logs in) can make and remove 10,000 a second in it,
 * with paths of 4 kB. So the table holds at most 16 MB, and prefers cgroups that the latest window has; those that
 * only records announced may take 4 MB. The hierarchy is read from the top, up to 4,000 cgroups of users, and for at
 * most 5 % of the time.
 */
#ifndef PJ_CGROUPS_H
#define PJ_CGROUPS_H

#include "common/str.h"

struct cgroup {
	uint64_t id;
	struct str path; /* path relative to the root of the hierarchy; "/" is the root itself */
	uint64_t window; /* 1 + serial number of the latest window that contains this cgroup; 0 if none does */
	bool announced;  /* true: a CGROUP record announced the cgroup; false: it was read from the hierarchy */
};

struct cgroups;

struct cgroups *cgroups_new(void);
void cgroups_free(struct cgroups *cgroups);

/* Adds a cgroup that a CGROUP record announced. */
void cgroups_add(struct cgroups *cgroups, uint64_t id, struct str path);

/* Returns the cgroup with this id, or NULL if it is unknown. The pointer is valid until the next call. An unknown id
 * causes a reading of the hierarchy, unless the previous one is too recent at now_ns. */
struct cgroup *cgroups_find(struct cgroups *cgroups, uint64_t id, uint64_t now_ns);

/* Returns the bytes of all entries of the table. */
size_t cgroups_bytes(const struct cgroups *cgroups);

/* If the table has more than 4,096 cgroups, removes those that no window with this or a higher serial number
 * contains. */
void cgroups_forget(struct cgroups *cgroups, uint64_t serial);

/* Finds the hierarchy in the text of /proc/self/mountinfo. Sets *point to its mount point, and *root to the path within
 * the hierarchy that is mounted there; both with the kernel's escapes. Returns false if it is not mounted. Pure. */
bool cgroups_parse_mountinfo(struct str mountinfo, struct str *point, struct str *root);

#endif
