/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identities.h - looks up the tenant, the namespaces and the start time of a process in limited time.
 *
 * The kernel returns the links /proc/PID/ns/... only while the process is not in an exec (exec_update_lock), and an
 * exec waits for the memory map of the previous program. Another task that shares this memory can lock the map forever,
 * for example in mmap of a file whose file system does not respond. Then stat() of such a link does not return, and no
 * signal ends it. So lookups have limited time (timelimit.h): IDENTITY_WAIT_MS for one process, and IDENTITY_WAITS_NS
 * per second for all slow lookups.
 */
#ifndef PJ_IDENTITIES_H
#define PJ_IDENTITIES_H

#include "record/processes/processes.h"

#define IDENTITY_WAITS_NS UINT64_C(100000000)

enum { IDENTITY_WAIT_MS = 20 };

/* Facts about a process. inner_pid: its pid in its own PID namespace. mount_ns: inode of its mount namespace. */
struct identity {
	struct tenant tenant;
	/* start_ticks: start time in clock ticks since boot (field 22 of /proc/PID/stat). start_ticks, mount_ns and
	 * inner_pid are 0 if unknown. */
	uint64_t start_ticks, mount_ns;
	uint32_t inner_pid;
};

struct identities;

struct identities *identities_new(void);
void identities_free(struct identities *i);

/* Looks up the facts about a process. Returns false if they cannot be read within IDENTITY_WAIT_MS, the time for slow
 * lookups is used up, or the process has ended. Then sets only found->tenant, to the container or user of the process
 * if that is known, and the other members to 0. */
bool identities_find(struct identities *i, uint32_t pid, struct identity *found);

/* For tests: replaces the function that reads the facts about a process from /proc. */
void identities_reader(struct identities *i, bool (*read)(uint32_t pid, struct identity *found));

#endif
