/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpthread.h - the thread that takes copies of frames from the synchronous reader, and those of threads off the
 * CPU, and lets the helper name them.
 *
 * Names must be read within 1 ms of the sample, but the main thread comes to its records twice a second. So this
 * thread waits for the copies, and stores what the helper finds in them (framestore.h). A process that has run no new
 * code for 64 copies and 2.5 s is different: the helper has read its names before. The copies of such processes are
 * taken each 60 ms, several in one request; new code in them gets no name, and ends that. The thread also opens
 * processes, which may take 20 ms each, and lists their threads. The main thread sends it orders, and takes its news,
 * which never blocks.
 */
#ifndef PJ_INTERPTHREAD_H
#define PJ_INTERPTHREAD_H

#include "record/interpreters/interpclient.h"
#include "record/offcpu/waitframes.h"
#include "record/syncread/syncread.h"

struct interpthread;

/* Starts the helper, not the thread. all: INTERPRETERS_ALL. */
struct interpthread *interpthread_new(bool all);
/* Starts the thread. copies, store and waits must outlive it; waits: copies of threads off the CPU, or NULL. Call it
 * once. */
bool interpthread_start(struct interpthread *thread, struct syncread *copies, struct waitframes *waits,
			struct framestore *store);
/* Ends the thread and the helper. Accepts NULL. */
void interpthread_free(struct interpthread *thread);

/* Orders, from the main thread. number: number of the process in this recording, never reused and not 0. */
enum interpthread_kind { INTERPTHREAD_OPEN, INTERPTHREAD_THREADS, INTERPTHREAD_CLOSE };

struct interpthread_order {
	enum interpthread_kind what;
	uint32_t pid;
	uint64_t number;
	uint64_t start; /* OPEN: start time of the process in clock ticks since boot; 0: any */
};
/* Returns false if too many orders wait: give it again later. */
bool interpthread_order(struct interpthread *thread, const struct interpthread_order *order);

/* News for the main thread. */
struct interpthread_news {
	struct interpthread_news *next;
	uint64_t number;
	uint32_t pid;
	bool opened; /* the result of OPEN; otherwise of THREADS */
	/* The process cannot be read now: `result.answer` has the kind, `result.why` the reason. */
	bool failed;
	bool is_private; /* failed: its own user may not read it, and INTERPRETERS_ALL is not chosen */
	struct interpclient_opened result; /* opened */
	int memory;                        /* opened: descriptor for syncread_add_process; -1: none */
	struct tenant tenant;              /* opened */
	uint64_t since;                    /* ns: time before anything of this was read */
	struct interpreter_thread *thread; /* n threads, with thread ids as the kernel's records have them */
	size_t n;
};
/* Returns the next news, or NULL. The caller frees it with interpthread_news_free, and takes `memory` if it sets it to
 * -1. */
struct interpthread_news *interpthread_take(struct interpthread *thread);
void interpthread_news_free(struct interpthread_news *news);
/* Returns a descriptor that is readable while news wait. */
int interpthread_fd(const struct interpthread *thread);

/* Waits until the copies that were made until now are in the store, for 100 ms at most. Copies of processes that run
 * no new code are taken up to 60 ms after the sample. */
void interpthread_flush(struct interpthread *thread);

struct helper_counts interpthread_count(const struct interpthread *thread);

#endif
