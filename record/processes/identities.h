/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identities.h - looks up the tenant, the namespaces and the start time of a process in limited time.
 *
 * The kernel returns the links /proc/PID/ns/... only while the process is not in an exec (exec_update_lock), and an
 * exec waits for the memory map of the program before it. Another task that shares that memory can hold the map for
 * ever, for example in mmap of a file on a file system that does not respond. The recorder then hung in stat and a
 * signal could not end it. So lookups have limited time (timelimit.h): IDENTITY_WAIT_MS for a process, and
 * IDENTITY_WAITS_NS in a second for all slow ones.
 */
#ifndef PJ_IDENTITIES_H
#define PJ_IDENTITIES_H

#include "record/processes/processes.h"

#define IDENTITY_WAITS_NS UINT64_C(100000000)

enum { IDENTITY_WAIT_MS = 20 };

/* Facts about a process. inner_pid is its pid in its own PID namespace; mount_ns is the inode of its mount
 * namespace. */
struct identity {
	struct tenant tenant;
	/* start_ticks: field 22 of /proc/PID/stat; each of the three is 0 if unknown */
	uint64_t start_ticks, mount_ns;
	uint32_t inner_pid;
};

struct identities;

struct identities *identities_new(void);
void identities_free(struct identities *i);

/* Looks up the facts about a process. Returns false if they cannot be read within the time, or the process has ended.
 * Then only found->tenant may be set, to the container or user of the process. */
bool identities_find(struct identities *i, uint32_t pid, struct identity *found);

/* For tests: replaces the function that reads the facts of a process from /proc. */
void identities_reader(struct identities *i, bool (*read)(uint32_t pid, struct identity *found));

#endif
