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

#include "runtimes/threadcopy.h"

#define THREADTABLE_PROCESSES 1024u /* maximum number of processes */
#define THREADTABLE_THREADS 65536u  /* maximum number of threads */

struct threadtable_process {
	uint32_t pid;
	int memory; /* descriptor of /proc/PID/mem */
	struct threadplan plan;
	uint64_t since;
	uint64_t reading_since;          /* for readers: time at which one of them began to read it, 0: none reads */
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

/* Adds a process, in place of one of the same pid. Takes over the descriptor, also on failure. Returns false if there
 * are too many, or the plan is not valid. */
bool threadtable_add_process(struct threadtable *threadtable, uint32_t pid, int memory, const struct threadplan *plan,
			     uint64_t since);
/* Adds a thread to a process. An entry of the thread with the same root and process stays as it is; another one is
 * replaced. Returns false if the process is not there, if the thread is that of another process, or if there
 * are too many threads. */
bool threadtable_add(struct threadtable *threadtable, uint32_t pid, uint32_t tid, uint64_t root, uint64_t since);
void threadtable_remove(struct threadtable *threadtable, uint32_t tid);
void threadtable_remove_process(struct threadtable *threadtable, uint32_t pid);
/* Return a process, the entry of a thread: NULL if there is none. threadtable_find is also for readers, between two
 * changes of their epoch. */
const struct threadtable_process *threadtable_process(const struct threadtable *threadtable, uint32_t pid);
const struct threadtable_entry *threadtable_find(const struct threadtable *threadtable, uint32_t tid);
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
