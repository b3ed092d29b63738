/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procreader.h - a thread that reads processes from /proc for the recorder: names of threads, executable mappings,
 * start times.
 *
 * The recorder's own thread runs at raised priority and may not stop, but /proc/PID/maps of a hostile process is up to
 * 8 MB of text, and reading it waits for that process's mmap_lock. So the recorder only queues requests and takes
 * answers; this thread runs at normal priority, reads a bounded number of bytes for each request, and reports the CPU
 * time that it used, for budgets. A process that holds its mmap_lock for ever (test/hostile/holdlock.c) delays others
 * by PROCREADER_STALL_MS: see timelimit.h.
 */
#ifndef PJ_PROCREADER_H
#define PJ_PROCREADER_H

#include "record/processes/processes.h"
#include "common/text.h"

struct procreader_thread {
	uint32_t pid, tid;
	char comm[COMM_MAX];
};

/* One process; or, with pid 0, a survey: the ids of all threads of the host, without names. */
struct procreader_answer {
	struct procreader_answer *next;
	uint32_t pid;
	bool there;           /* else it has ended, or may not be read */
	bool stalled;         /* it does not answer, or its place rests: nothing else is known */
	bool cut;             /* the process has more mappings or threads than are read */
	bool maps_cut;        /* it has more mappings */
	uint64_t started;     /* ns: when reading began */
	uint64_t cost_ns;     /* CPU time of the thread */
	uint64_t start_ticks; /* field 22 of /proc/PID/stat; 0: unknown */
	struct text maps;     /* the executable lines of /proc/PID/maps */
	struct procreader_thread *thread;
	size_t nthreads;
};

struct procreader;

enum { PROCREADER_STALL_MS = 250 };

/* Starts the thread. To be called when privileges are as they stay. Returns NULL if no thread can be started. */
struct procreader *procreader_start(void);

/* Ends the thread; one that hangs is left behind. */
void procreader_stop(struct procreader *procreader);

/* Queues a request for a process: names of thread tid and of the first one, or, with tid 0, of all threads. False: too
 * many wait. */
bool procreader_request(struct procreader *procreader, uint32_t pid, uint32_t tid);
bool procreader_survey(struct procreader *procreader);

/* Returns the oldest answer, to be freed; NULL if there is none. Waits for one for up to wait_ns, if requests are under
 * way. */
struct procreader_answer *procreader_take(struct procreader *procreader, uint64_t wait_ns);
void procreader_answer_free(struct procreader_answer *answer);

#endif
