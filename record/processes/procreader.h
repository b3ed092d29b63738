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

/* Name of one thread; empty in a thread scan. */
struct procreader_thread {
	uint32_t pid, tid;
	char comm[COMM_MAX];
};

/* Answer about one process, or, with pid 0, a thread scan: the ids of all threads of the host, without names. */
struct procreader_answer {
	struct procreader_answer *next;
	uint32_t pid;
	/* false if the process has ended or may not be read */
	bool there;
	/* The process does not respond, or its fault domain is being avoided; then nothing else is known. */
	bool stalled;
	/* the process has more mappings or threads than are read */
	bool cut;
	/* it has more mappings than are read */
	bool maps_cut;
	/* ns of CLOCK_MONOTONIC when reading began */
	uint64_t started;
	/* ns of CPU time that the reading took */
	uint64_t cost_ns;
	/* field 22 of /proc/PID/stat; 0 if unknown */
	uint64_t start_ticks;
	struct text maps; /* the executable lines of /proc/PID/maps */
	struct procreader_thread *thread;
	size_t nthreads;
};

struct procreader;

enum { PROCREADER_STALL_MS = 250 };

/* Starts the thread. Call it after privileges were dropped. Returns NULL if no thread can be started. */
struct procreader *procreader_start(void);

/* Ends the thread. Does not wait for one that hangs, which frees the memory when it ends. */
void procreader_stop(struct procreader *procreader);

/* Queues a request for a process: the names of thread tid and of the first thread, or, with tid 0, of all threads.
 * Returns false if too many requests wait. */
bool procreader_request(struct procreader *procreader, uint32_t pid, uint32_t tid);
/* Queues a thread scan. Returns false if too many requests wait. */
bool procreader_survey(struct procreader *procreader);

/* Returns the oldest answer, which the caller frees with procreader_answer_free, or NULL if there is none. Waits for
 * one for up to wait_ns if requests are pending. */
struct procreader_answer *procreader_take(struct procreader *procreader, uint64_t wait_ns);
void procreader_answer_free(struct procreader_answer *answer);

#endif
