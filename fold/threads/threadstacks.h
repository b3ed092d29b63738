/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threadstacks.h - the newest stack of each thread of a recording, as locations: pass 1 of --thread-dump.
 *
 * A later sample replaces the stack of a thread, whatever its event is. The end of the thread or an exec of its process
 * deletes the stack. Samples after the EXIT record of a thread are ignored until a COMM or FORK record shows that
 * another thread has the tid. For each thread, the newest complete stack is stored, too: the newest sample of a running
 * thread is often a preemption of some us, whose callers come from frame pointers.
 *
 * Memory is bounded by THREADSTACKS_MAX threads, and THREADSTACKS_FRAMES frames of all stacks. Threads beyond these
 * limits are left out, and `over` is set. The tid of an ended thread is remembered for THREADSTACKS_ENDED_NS.
 */
#ifndef PJ_THREADSTACKS_H
#define PJ_THREADSTACKS_H

#include "fold/perfdata/perfdata.h"

#define THREADSTACKS_MAX 65536
#define THREADSTACKS_FRAMES ((size_t)1 << 24)
#define THREADSTACKS_ENDED_NS UINT64_C(2000000000)

/* State of a thread at a sample. THREAD_RUNNING: on a CPU. THREAD_WAITING: blocked. THREAD_PREEMPTED: ready to run, but
 * not on a CPU. */
enum threadstacks_state { THREAD_RUNNING, THREAD_WAITING, THREAD_PREEMPTED };

/* One sample of a thread. */
struct threadsample {
	/* Id of the name of the thread in addrspace.comms; 0: no sample is stored. */
	uint32_t comm;
	enum threadstacks_state state;
	/* CPU on which the sample was taken; -1: unknown. */
	int64_t cpu;
	/* time: time of the sample in ns on the recording's clock. length: length of the wait or preemption in ns; 0:
	 * unknown. */
	uint64_t time, length;
	struct str event; /* name of the event; the reader of the recording owns it */
	/* True if the process has mappings, so that the stack has frames of user code. */
	bool user;
	/* True if the recorder left out the stack because the tenant was over budget. */
	bool over_budget;
	/* n frame ids, which are location ids with LOCATION_BIT, leaf first; the last location is the end of the stack,
	 * if this is known. */
	uint32_t *frame;
	size_t n, cap;
};

struct threadstack {
	uint32_t pid, tid;
	/* The newest sample, and the newest sample with a complete stack. */
	struct threadsample newest, complete;
	/* Time of the process's latest exec in ns, in the entry of its main thread; 0: none. */
	uint64_t exec;
	/* ended: time of the EXIT record in ns; 0: the thread lives. queued: true if the entry is in the queue of ended
	 * threads. */
	uint64_t ended;
	bool queued;
	/* True if a sample showed the thread off the CPU. */
	bool switched;
	/* next: the next entry of the hash bucket. next_ended: the next entry of the queue of ended threads. NULL:
	 * none. */
	struct threadstack *next, *next_ended;
};

/* The stacks of all threads; a struct of zeros has none. */
struct threadstacks {
	struct threadstack **bucket; /* hash table by pid and tid; NULL: no entries */
	uint32_t n;                  /* number of entries */
	size_t frames;               /* sum of the capacities of all stacks, in frames */
	/* First and last entry of the queue of ended threads, in order of their EXIT records. */
	struct threadstack *ended, *last_ended;
	/* Time in ns of the latest exec of all processes whose main thread's entry has been deleted. */
	uint64_t exec;
	/* True if stacks were left out because of the limits. */
	bool over;
	/* True if the recorder has summed up off-CPU times of tenants over budget: a waiting thread may then have no
	 * sample of its wait. */
	bool over_budget;
};

/* Stores the stack of a sample: frame[0..n), leaf first. complete: true if the stack reaches a root frame. comm: id of
 * the thread's name in addrspace.comms. user: true if the process has mappings. */
void threadstacks_sample(struct threadstacks *threadstacks, const struct perfdata_record *record, uint32_t comm,
			 bool user, bool complete, const uint32_t *frame, size_t n);

/* Applies a record: EXIT ends a thread, COMM with exec ends all other threads of its process, FORK and other COMM
 * records show that the thread lives. Ignores records of other kinds. */
void threadstacks_record(struct threadstacks *threadstacks, const struct perfdata_record *record);

/* Returns the threads that have a stack, sorted by pid, then by tid, but with the main thread of a process first. Sets
 * *n to their number. The caller frees the array. */
const struct threadstack **threadstacks_list(const struct threadstacks *threadstacks, size_t *n);

/* Compares thread pid/tid with thread other_pid/other_tid in the order of threadstacks_list. Returns a negative, zero
 * or positive number, like memcmp. */
int threadstacks_order(uint32_t pid, uint32_t tid, uint32_t other_pid, uint32_t other_tid);

void threadstacks_free(struct threadstacks *threadstacks);

#endif
