/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threadtable.h - table of the threads whose frames the synchronous reader copies: tid -> memory descriptor, plan and
 * root.
 *
 * One thread, the owner, changes the table. Reader threads look up threads without locks: entries never change, and
 * the owner publishes pointers to them. The owner frees a removed entry only when no reader can use it any longer:
 * each reader increments its `epoch` before and after each use of the table, and threadtable_free_unused compares the
 * epochs.
 */
#ifndef PJ_THREADTABLE_H
#define PJ_THREADTABLE_H

#include "common/process/tenants.h"
#include "runtimes/threadcopy.h"

#define THREADTABLE_PROCESSES 1024u /* maximum number of processes */
#define THREADTABLE_THREADS 65536u  /* maximum number of threads */
/* BLOCKED_NS: time in ns for which memory of a tenant's processes may block readers in one burst. BLOCKED_SHARE:
 * divisor; in the long run, the memory may block them for 1/BLOCKED_SHARE of all readers' time. Reading one page from a
 * disk takes 0.1 to 10 ms. */
#define THREADTABLE_BLOCKED_NS UINT64_C(250000000)
#define THREADTABLE_BLOCKED_SHARE 100u
/* BLOCKED_READERS: maximum number of readers whose time is summed as all readers' time for THREADTABLE_BLOCKED_SHARE.
 * AVOID_NS: time in ns for which no process of a tenant is added after its memory has blocked readers for too long. */
#define THREADTABLE_BLOCKED_READERS 10u
#define THREADTABLE_AVOID_NS UINT64_C(60000000000)
/* time in ns for which no process of a tenant is added after a read of its memory hung */
#define THREADTABLE_HUNG_NS UINT64_C(600000000000)

/* Account of a tenant. A tenant gets at most half of the process and thread slots that other tenants do not hold. */
struct threadtable_tenant {
	struct tenant tenant;
	uint32_t processes, threads;
	uint32_t suspect;    /* 1: a copy of one of the tenant's processes took longer than READERTHREAD_SUSPECT_NS */
	uint64_t blocked_ns; /* ns for which memory of the tenant's processes blocked readers, less the allowed share */
	/* time in ns until which the tenant is avoided: no process of the tenant is added; 0: the tenant is not avoided
	 */
	uint64_t until;
};

struct threadtable_process {
	uint32_t pid;
	struct tenant tenant;
	struct threadtable_tenant *account; /* account of `tenant`; only the owner thread uses it */
	int memory;                         /* descriptor of /proc/PID/mem */
	struct threadplan plan;
	uint64_t since;
	/* set by readers: time in ns at which a reader began to read the memory; 0: none is reading */
	uint64_t reading_since;
	/* set and read by readers: 1: a copy of a process of the tenant took longer than READERTHREAD_SUSPECT_NS */
	uint32_t suspect;
	uint64_t blocked_ns; /* ns for which the memory blocked readers since the owner last charged the account */
	struct threadtable_entry *first; /* first thread of the list linked by `next`; only the owner thread uses it */
};

struct threadtable_entry {
	uint32_t tid;
	uint64_t root, since;
	uint64_t serial; /* id of this entry; the table never reuses it */
	struct threadtable_process *process;
	struct threadtable_entry *next, *previous; /* list of the process's threads; only the owner thread uses it */
};

struct threadtable;

struct threadtable *threadtable_new(void);
/* Frees the table and closes its descriptors. No reader may use the table any longer. Accepts NULL. */
void threadtable_free(struct threadtable *threadtable);

/* Adds a process with the pid, tenant, memory, plan and since of *process, and first removes a process with the same
 * pid. Takes over the descriptor, also on failure. now: ns of CLOCK_MONOTONIC. Returns false if all tenants or this
 * tenant have too many processes, if the tenant is avoided because it blocked readers, or if the plan is invalid. */
bool threadtable_add_process(struct threadtable *threadtable, const struct threadtable_process *process, uint64_t now);
/* Adds a thread to a process. If the thread has an entry with the same process and root, the entry stays; an entry with
 * another root is replaced. Returns false if the process is not in the table, if the thread belongs to another process,
 * or if all tenants or this tenant have too many threads. */
bool threadtable_add(struct threadtable *threadtable, uint32_t pid, uint32_t tid, uint64_t root, uint64_t since);
void threadtable_remove(struct threadtable *threadtable, uint32_t tid);
void threadtable_remove_process(struct threadtable *threadtable, uint32_t pid);
/* threadtable_process returns the process with this pid, threadtable_find the entry of the thread with this tid; NULL
 * if the table has none. Readers may call threadtable_find, too, between two threadtable_step. */
const struct threadtable_process *threadtable_process(const struct threadtable *threadtable, uint32_t pid);
const struct threadtable_entry *threadtable_find(const struct threadtable *threadtable, uint32_t tid);
/* Removes all processes of tenants whose memory has blocked readers for THREADTABLE_BLOCKED_NS, and adds no process of
 * these tenants for THREADTABLE_AVOID_NS. readers: number of reader threads. Returns the number of removed
 * processes. */
uint32_t threadtable_remove_blockers(struct threadtable *threadtable, uint64_t now, uint32_t readers);
/* To be called after a read of a tenant's memory hung: removes all processes of the tenant, and adds none for
 * THREADTABLE_HUNG_NS. */
void threadtable_avoid(struct threadtable *threadtable, struct tenant tenant, uint64_t now);
uint32_t threadtable_processes(const struct threadtable *threadtable);
uint32_t threadtable_threads(const struct threadtable *threadtable);

/* The epoch of a reader. now: number that is odd while the reader uses the table; seen: value of `now` that the owner
 * thread saw last. */
struct threadtable_epoch {
	uint64_t now, seen;
};

/* Called by a reader before and after each use of the table. */
static inline void threadtable_step(struct threadtable_epoch *epoch)
{
	__atomic_add_fetch(&epoch->now, 1, __ATOMIC_SEQ_CST);
}

/* Frees removed entries and processes that no reader uses any longer. epoch: the epochs of all n readers. n may change
 * from call to call: a new reader uses no old entry, and an absent reader has ended. */
void threadtable_free_unused(struct threadtable *threadtable, struct threadtable_epoch *const *epoch, size_t n);

#endif
