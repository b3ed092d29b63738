/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroups.h - paths of cgroups by the cgroup id in a sample (PERF_SAMPLE_CGROUP).
 *
 * The id is the inode of the cgroup's directory in the hierarchy of perf_event: the hierarchy of cgroup version 1 if it
 * is mounted, else the one of version 2. The module reads existing cgroups from the hierarchy at the start. CGROUP
 * records of the kernel announce new cgroups. If a sample has an id that is still unknown, the hierarchy is read again,
 * with a minimum time between readings.
 *
 * A user with a delegated cgroup (systemd gives one to each user that logs in) can make and remove 10,000 cgroups per
 * second in it, with paths of 4 kB. So the table holds at most 16 MB and prefers cgroups of the latest window. Cgroups
 * that only records announced may use 4 MB. The hierarchy is read from the top, up to 4,000 cgroups of users, for at
 * most 5 % of the time.
 */
#ifndef PJ_CGROUPS_H
#define PJ_CGROUPS_H

#include "common/str.h"

struct cgroup {
	/* cgroup id: inode of its directory */
	uint64_t id;
	struct str path; /* path relative to the root of the hierarchy; "/" is the root itself */
	uint64_t window; /* 1 + serial number of the latest window that has a record of this cgroup; 0: none */
	bool announced;  /* true: a CGROUP record announced the cgroup; false: it was read from the hierarchy */
};

struct cgroups;

struct cgroups *cgroups_new(void);
void cgroups_free(struct cgroups *cgroups);

/* Adds the cgroup that a CGROUP record announced, with its path; replaces an earlier path of the id. */
void cgroups_add(struct cgroups *cgroups, uint64_t id, struct str path);

/* Returns the cgroup with this id; NULL if it is unknown. An unknown id causes a reading of the hierarchy, unless the
 * previous reading is too recent at now_ns (CLOCK_MONOTONIC). The pointer is valid until the next call of a function of
 * this module. */
struct cgroup *cgroups_find(struct cgroups *cgroups, uint64_t id, uint64_t now_ns);

/* Returns the number of bytes of all entries of the table. */
size_t cgroups_bytes(const struct cgroups *cgroups);

/* If the table has more than 4,096 cgroups, removes those that are in no window with serial number `serial` or a higher
 * one. */
void cgroups_forget(struct cgroups *cgroups, uint64_t serial);

/* Finds the hierarchy in the text of /proc/self/mountinfo. Sets *point to its mount point and *root to the path within
 * the hierarchy that is mounted there, both with the kernel's escapes. Returns false if the hierarchy is not mounted.
 * Pure: no input or output. */
bool cgroups_parse_mountinfo(struct str mountinfo, struct str *point, struct str *root);

#endif
