/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threadstacks.h - the newest stack of each thread of a recording, as locations: pass 1 of --thread-dump.
 *
 * A later sample replaces the stack of a thread, whatever its event. The end of a thread and the exec of its process
 * delete it; so samples that come after the EXIT record of a thread are ignored, until a COMM or FORK record shows that
 * another thread has its tid. Beside the newest stack of a thread its newest complete one is kept: the newest sample of
 * a thread that runs is often a preemption of some us, whose callers are by frame pointers.
 *
 * Memory is bounded: THREADSTACKS_MAX threads, and THREADSTACKS_FRAMES frames of all stacks. Threads beyond that are
 * left out, and `over` is set. Of a thread that has ended, its tid remains for THREADSTACKS_ENDED_NS.
 */
#ifndef PJ_THREADSTACKS_H
#define PJ_THREADSTACKS_H

#include "fold/perfdata/perfdata.h"

#define THREADSTACKS_MAX 65536
#define THREADSTACKS_FRAMES ((size_t)1 << 24)
#define THREADSTACKS_ENDED_NS UINT64_C(2000000000)

/* State of a thread at a sample: on a CPU, blocked, or preempted. */
enum threadstacks_state { THREAD_RUNNING, THREAD_WAITING, THREAD_PREEMPTED };

/* One sample of a thread. */
struct threadsample {
	/* Id of the name of the thread in addrspace.comms; 0: there is no sample. */
	uint32_t comm;
	enum threadstacks_state state;
	/* Number of the CPU of a thread that runs; -1: unknown. */
	int64_t cpu;
	/* Time of the sample, and length of the wait or preemption, in ns; length 0: unknown. */
	uint64_t time, length;
	struct str event; /* owned by the reader of the recording */
	/* The process has mappings, so the stack has frames of user code. */
	bool user;
	/* The recorder left out the stack, since the tenant was over budget. */
	bool over_budget;
	/* Frame ids: n locations with LOCATION_BIT, leaf first, with the end of the stack if it is known. */
	uint32_t *frame;
	size_t n, cap;
};

struct threadstack {
	uint32_t pid, tid;
	/* The newest sample, and the newest one with a complete stack. */
	struct threadsample newest, complete;
	/* Time of the latest exec of the process in ns; set in the entry of its main thread. */
	uint64_t exec;
	/* Time of the EXIT record; 0: none. queued: the entry is in the queue of ended threads. */
	uint64_t ended;
	bool queued;
	/* A sample showed it off the CPU. */
	bool switched;
	/* The next entry of the bucket, and of that queue. */
	struct threadstack *next, *next_ended;
};

/* All zero is empty. */
struct threadstacks {
	struct threadstack **bucket; /* hash table by pid and tid; NULL: no entries */
	uint32_t n;                  /* number of entries */
	size_t frames;               /* sum of the capacities of all stacks */
	/* Queue of ended threads, in order of their ends. */
	struct threadstack *ended, *last_ended;
	/* The latest exec of all processes whose main thread has ended and has no entry any more. */
	uint64_t exec;
	/* Stacks were left out because of the limits. */
	bool over;
	/* The recorder has summed off-CPU times of tenants over budget: a thread that waits may have no sample of its
	 * wait. */
	bool over_budget;
};

/* Stores the stack of a sample: frame[0..n), leaf first. complete: it reaches a root frame. comm: id of the name of the
 * thread in addrspace.comms. user: the process has mappings. */
void threadstacks_sample(struct threadstacks *threadstacks, const struct perfdata_record *record, uint32_t comm,
			 bool user, bool complete, const uint32_t *frame, size_t n);

/* Takes a record of kind EXIT, FORK or COMM; ignores other kinds. */
void threadstacks_record(struct threadstacks *threadstacks, const struct perfdata_record *record);

/* Returns the threads that have a stack, by pid, with the main thread of a process first, then by tid. Sets *n to their
 * number. The caller frees the array. */
const struct threadstack **threadstacks_list(const struct threadstacks *threadstacks, size_t *n);

/* Compares two threads in that order; the result is as that of memcmp. */
int threadstacks_order(uint32_t pid, uint32_t tid, uint32_t other_pid, uint32_t other_tid);

void threadstacks_free(struct threadstacks *threadstacks);

#endif
