/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threadtable.h - the threads whose stacks the synchronous reader copies: tid -> memory descriptor, plan and root.
 *
 * One thread, the owner, changes the table. Reader threads look threads up without any wait: entries never change, and
 * the owner publishes pointers. What it removes is freed only when no reader can use it any longer: each reader counts
 * up its `epoch` before and after each use of the table, and threadtable_free_unused compares.
 */
#ifndef PJ_THREADTABLE_H
#define PJ_THREADTABLE_H

#include "common/process/tenants.h"
#include "runtimes/threadcopy.h"

#define THREADTABLE_PROCESSES 1024u /* maximum number of processes */
#define THREADTABLE_THREADS 65536u  /* maximum number of threads */
/* Time for which the memory of a tenant's processes may block readers at once, and the divisor that gives the share of
 * all readers' time for which it may. A page from a disk takes 0.1 to 10 ms. */
#define THREADTABLE_BLOCKED_NS UINT64_C(250000000)
#define THREADTABLE_BLOCKED_SHARE 100u
#define THREADTABLE_BLOCKED_READERS 10u /* number of readers whose time counts */
#define THREADTABLE_AVOID_NS UINT64_C(60000000000)
#define THREADTABLE_HUNG_NS UINT64_C(600000000000) /* time for which a tenant is avoided after a read that hangs */

/* The processes and threads of a tenant. It has at most half of the places that the others leave. */
struct threadtable_tenant {
	struct tenant tenant;
	uint32_t processes, threads;
	uint32_t suspect;    /* 1: a copy of one of its processes took long */
	uint64_t blocked_ns; /* time for which the memory of its processes has blocked readers */
	uint64_t until;      /* time until which none of its processes is added; 0: it may have some */
};

struct threadtable_process {
	uint32_t pid;
	struct tenant tenant;
	struct threadtable_tenant *account; /* for the owner */
	int memory;                         /* descriptor of /proc/PID/mem */
	struct threadplan plan;
	uint64_t since;
	uint64_t reading_since;          /* for readers: time at which one of them began to read it, 0: none reads */
	uint32_t suspect;                /* for readers: 1: a copy of one of the tenant's processes took long */
	uint64_t blocked_ns;             /* time for which its memory has blocked readers since the last look */
	struct threadtable_entry *first; /* for the owner: its threads, linked by `next` */
};

struct threadtable_entry {
	uint32_t tid;
	uint64_t root, since;
	uint64_t serial; /* of this entry: no other one of the table ever has it */
	struct threadtable_process *process;
	struct threadtable_entry *next, *previous; /* for the owner */
};

struct threadtable;

struct threadtable *threadtable_new(void);
/* Frees all and closes the descriptors. No reader may use it any longer. Accepts NULL. */
void threadtable_free(struct threadtable *threadtable);

/* Adds a process, in place of one of the same pid, with the pid, tenant, memory, plan and since of *process. Takes over
 * the descriptor, also on failure. Returns false if there are too many of all or of its tenant, if the tenant has
 * blocked readers (now: ns of CLOCK_MONOTONIC), or if the plan is not valid. */
bool threadtable_add_process(struct threadtable *threadtable, const struct threadtable_process *process, uint64_t now);
/* Adds a thread to a process. An entry of the thread with the same root and process stays as it is; another one is
 * replaced. Returns false if the process is not there, if the thread is that of another process, or if there
 * are too many threads of all or of its tenant. */
bool threadtable_add(struct threadtable *threadtable, uint32_t pid, uint32_t tid, uint64_t root, uint64_t since);
void threadtable_remove(struct threadtable *threadtable, uint32_t tid);
void threadtable_remove_process(struct threadtable *threadtable, uint32_t pid);
/* Return a process, the entry of a thread: NULL if there is none. threadtable_find is also for readers, between two
 * changes of their epoch. */
const struct threadtable_process *threadtable_process(const struct threadtable *threadtable, uint32_t pid);
const struct threadtable_entry *threadtable_find(const struct threadtable *threadtable, uint32_t tid);
/* Removes all processes of tenants whose memory has blocked readers for THREADTABLE_BLOCKED_NS; for
 * THREADTABLE_AVOID_NS, none of theirs is added. readers: number of readers. Returns the number of processes. */
uint32_t threadtable_remove_blockers(struct threadtable *threadtable, uint64_t now, uint32_t readers);
/* Removes all processes of a tenant after a read of its memory hangs; for THREADTABLE_HUNG_NS, none of theirs is added.
 */
void threadtable_avoid(struct threadtable *threadtable, struct tenant tenant, uint64_t now);
uint32_t threadtable_processes(const struct threadtable *threadtable);
uint32_t threadtable_threads(const struct threadtable *threadtable);

/* The epoch of a reader: odd while it uses the table. `seen` belongs to the owner. */
struct threadtable_epoch {
	uint64_t now, seen;
};

/* Called by a reader before and after each use of the table. */
static inline void threadtable_step(struct threadtable_epoch *epoch)
{
	__atomic_add_fetch(&epoch->now, 1, __ATOMIC_SEQ_CST);
}

/* Frees what was removed and no reader uses any longer. The epochs are those of all readers, whose number may change
 * from call to call: a new one counts as unused, an absent one has ended. */
void threadtable_free_unused(struct threadtable *threadtable, struct threadtable_epoch *const *epoch, size_t n);

#endif
