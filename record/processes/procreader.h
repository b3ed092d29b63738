/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procreader.h - thread that reads processes from /proc: names of threads, executable mappings, start times.
 *
 * The recorder's main thread runs at raised priority and must not block. But /proc/PID/maps of a hostile process has up
 * to 8 MB of text, and reading it waits for that process's mmap_lock. So the recorder only queues requests and takes
 * answers. The reader thread runs at normal priority, reads a limited number of bytes for each request, and reports the
 * CPU time that it used, for budgets. A process that holds its mmap_lock forever (test/hostile/holdlock.c) delays
 * requests about other processes by PROCREADER_STALL_MS (timelimit.h).
 */
#ifndef PJ_PROCREADER_H
#define PJ_PROCREADER_H

#include "record/processes/processes.h"
#include "common/text.h"

/* A thread and its name; in the answer to a thread scan the name is empty. */
struct procreader_thread {
	uint32_t pid, tid;
	char comm[COMM_MAX];
};

/* Answer to a request about process `pid`. pid 0: answer to a thread scan, with the ids of all threads of the host and
 * no names. */
struct procreader_answer {
	struct procreader_answer *next;
	uint32_t pid;
	/* true: the process was read; false: it has ended, or pjrecord may not read it */
	bool there;
	/* true: the process does not respond within PROCREADER_STALL_MS or its fault domain is avoided; then only pid
	 * and started are valid */
	bool stalled;
	/* true: the process has more mappings or threads than the answer */
	bool cut;
	/* true: the process has more mappings than the answer */
	bool maps_cut;
	/* time at which the reading began, in ns of CLOCK_MONOTONIC */
	uint64_t started;
	/* CPU time of the reading, in ns */
	uint64_t cost_ns;
	/* start time of the process in clock ticks since boot (field 22 of /proc/PID/stat); 0 if unknown */
	uint64_t start_ticks;
	bool user_stacks; /* true: the process has user stacks (procfs_has_user_stacks) */
	struct text maps; /* the lines of /proc/PID/maps whose mappings are executable */
	struct procreader_thread *thread;
	size_t nthreads;
};

struct procreader;

/* Maximum time in ms for reading one process; a process that needs more time is skipped (`stalled`). While the reading
 * thread uses or waits for a CPU, the maximum is 20 times that (timelimit.h). */
enum { PROCREADER_STALL_MS = 250 };

/* Starts the thread that reads /proc. The caller must have dropped privileges. Returns NULL if the thread cannot be
 * started. */
struct procreader *procreader_start(void);

/* Ends the thread and frees all memory. Waits for the thread at most 2 * PROCREADER_STALL_MS. If the thread hangs, it
 * frees the memory when it ends. */
void procreader_stop(struct procreader *procreader);

/* Queues a request for the mappings of process pid and the names of its threads. tid 0: names of all threads; else of
 * thread `tid` and of the first thread. Returns false if the queue is full. */
bool procreader_request(struct procreader *procreader, uint32_t pid, uint32_t tid);
/* Queues a request for a thread scan. Returns false if the queue is full. */
bool procreader_survey(struct procreader *procreader);

/* Returns the oldest answer, which the caller frees with procreader_answer_free; NULL if there is none. If there is
 * none and requests are pending, waits for an answer, at most wait_ns. */
struct procreader_answer *procreader_take(struct procreader *procreader, uint64_t wait_ns);
void procreader_answer_free(struct procreader_answer *answer);

#endif
