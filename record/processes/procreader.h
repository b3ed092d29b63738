/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procreader.h - thread that reads processes from /proc: names of threads, executable mappings, start times.
 *
 * The recorder's own thread runs at raised priority and must not block, but /proc/PID/maps of a hostile process is
 * up to 8 MB of text, and reading it waits for that process's mmap_lock. So the recorder only queues requests and
 * takes answers. This thread runs at normal priority, reads a limited number of bytes for each request, and reports
 * the CPU time that it used, for budgets. A process that holds its mmap_lock for ever (test/hostile/holdlock.c)
 * delays others by PROCREADER_STALL_MS: see timelimit.h.
 */
#ifndef PJ_PROCREADER_H
#define PJ_PROCREADER_H

#include "record/processes/processes.h"
#include "common/text.h"

/* One thread with its name; the name is empty in a thread scan. */
struct procreader_thread {
	uint32_t pid, tid;
	char comm[COMM_MAX];
};

/* Answer about process `pid`. With pid 0, answer to a thread scan: the ids of all threads of the host, without
 * names. */
struct procreader_answer {
	struct procreader_answer *next;
	uint32_t pid;
	/* false: the process has ended or may not be read */
	bool there;
	/* true: the process does not respond, or its fault domain is avoided. Then the other members are unknown. */
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
	bool user_stacks; /* procfs_has_user_stacks */
	struct text maps; /* lines of /proc/PID/maps whose mappings are executable */
	struct procreader_thread *thread;
	size_t nthreads;
};

struct procreader;

enum { PROCREADER_STALL_MS = 250 };

/* Starts the thread that reads /proc. Call it after privileges were dropped. Returns NULL if the thread cannot be
 * started. */
struct procreader *procreader_start(void);

/* Ends the thread and frees all memory. If the thread hangs, leaves it: it frees the memory when it ends. */
void procreader_stop(struct procreader *procreader);

/* Queues a request for process pid: its mappings and the names of its threads. With tid 0 these are all threads, else
 * thread `tid` and the first thread. Returns false if the queue is full. */
bool procreader_request(struct procreader *procreader, uint32_t pid, uint32_t tid);
/* Queues a request for a thread scan. Returns false if the queue is full. */
bool procreader_survey(struct procreader *procreader);

/* Returns the oldest answer, or NULL if there is none. Waits up to wait_ns for an answer if requests are pending. The
 * caller frees it with procreader_answer_free. */
struct procreader_answer *procreader_take(struct procreader *procreader, uint64_t wait_ns);
void procreader_answer_free(struct procreader_answer *answer);

#endif
