/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threadstacks.h - the newest stack of each thread of a recording, as text: --thread-dump.
 *
 * Pass 1 stores the locations of each thread's newest sample of any event; a later one replaces them, and the end or
 * the exec of a thread deletes them. A thread that is on a CPU at the end has its newest complete stack instead, if
 * that is at most THREADSTACKS_RECENT_NS older: the newest sample of such a thread is often a preemption of some us,
 * whose callers are by frame pointers. After pass 2, which finds the names, the text has a block for each thread, in
 * the order of pid and tid, with the main thread of a process first. Memory: two stacks for each thread.
 */
#ifndef PJ_THREADSTACKS_H
#define PJ_THREADSTACKS_H

#include "common/text.h"
#include "fold/perfdata/perfdata.h"
#include "fold/process/addrspace.h"
#include "fold/process/locations.h"
#include "common/stacks.h"

#define THREADSTACKS_RECENT_NS UINT64_C(100000000)

/* State of a thread at its newest sample: on a CPU (its number, -1 if it was not recorded), waiting, or preempted. */
enum threadstacks_state { THREAD_RUNNING, THREAD_WAITING, THREAD_PREEMPTED };

/* One sample of a thread. */
struct threadsample {
	/* Id of the name of the thread in addrspace.comms; 0: there is no sample. */
	uint32_t comm;
	enum threadstacks_state state;
	int64_t cpu;
	/* Time of the sample, and length of the wait or preemption, in ns. */
	uint64_t time, length;
	struct str event; /* owned by the reader of the recording */
	/* The process has mappings, so the stack has frames of user code. */
	bool user;
	/* Frame ids: n locations with LOCATION_BIT, leaf first, with the end of the stack if it is known. */
	uint32_t *frame;
	size_t n, cap;
};

/* The newest sample of a thread, and the newest one with a complete stack. */
struct threadstack {
	uint32_t pid, tid;
	struct threadsample newest, complete;
};

/* All zero is empty. */
struct threadstacks {
	struct intern keys; /* pid and tid of each thread */
	/* Entries by key: the index is the id of the key minus 1. */
	struct threadstack *thread;
};

/* Stores the stack of a sample: frame[0..n), leaf first. complete: it reaches a root frame. comm: id of the name of the
 * thread in addrspace.comms. user: the process has mappings. */
void threadstacks_sample(struct threadstacks *threadstacks, const struct perfdata_record *record, uint32_t comm,
			 bool user, bool complete, const uint32_t *frame, size_t n);

/* Deletes the stack of a thread that has ended, or that has called execve(). */
void threadstacks_delete(struct threadstacks *threadstacks, uint32_t pid, uint32_t tid);

/* Names of the frames, and the time of the last record in ns. */
struct threadstacks_names {
	const struct addrspace *addrspace;
	const struct locations *locations;
	/* Result of resolve(): frame[first[location]] to frame[first[location + 1] - 1] are the frames of a location,
	 * outermost first, as ids of the frames of `stacks`. */
	const uint32_t *first, *frame;
	const struct stacks *stacks;
	/* Returns the DSO that is shown for a location; empty: none. */
	struct str (*dso)(const struct addrspace *addrspace, const struct location *location);
	uint64_t end_ns;
};

/* Appends the blocks of all threads to `text`. Bytes of names that a terminal forbids are escaped (visible.h). */
void threadstacks_write(const struct threadstacks *threadstacks, const struct threadstacks_names *names,
			struct text *text);

void threadstacks_free(struct threadstacks *threadstacks);

#endif
