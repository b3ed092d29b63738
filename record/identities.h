/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identities.h - looks up the tenant, the namespaces and the start time of a process without waiting for it for long.
 *
 * The kernel gives the links /proc/PID/ns/... out only while the process is not in an exec (exec_update_lock), and an exec waits for the
 * memory map of the program before it. Another task that shares that memory can hold the map for ever: mmap of a file on a file system that
 * does not answer does. The recorder then hung in stat, also when it was asked to end. So a thread looks them up. One that does not
 * answer within IDENTITY_WAIT_NS is left behind, and ends when the kernel lets it; the recorder waits at most IDENTITY_WAITS_NS in a
 * second.
 */
#ifndef PJ_IDENTITIES_H
#define PJ_IDENTITIES_H

#include "processes.h"

#define IDENTITY_WAIT_NS UINT64_C(20000000)
#define IDENTITY_WAITS_NS UINT64_C(100000000)
#define IDENTITY_LEFT_MAX 32u /* threads that are left behind at a time; beyond, nothing is looked up */

struct identity {
	struct tenant tenant;
	uint64_t start_ticks, mount_ns; /* 0: unknown */
	uint32_t inner_pid;
};

struct identities;

struct identities *identities_new(void);
void identities_free(struct identities *i); /* threads that hang are left behind */

/* Returns false if it is not known within the time, or the process has ended. */
bool identities_find(struct identities *i, uint32_t pid, struct identity *found);

/* Threads that are left behind now. */
unsigned identities_left(struct identities *i);

/* For tests: what the thread calls for a process, instead of reading /proc. */
void identities_reader(struct identities *i, bool (*read)(uint32_t pid, struct identity *found));

#endif
