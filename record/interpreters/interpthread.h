/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpthread.h - the thread of pjrecord that passes copies of frames to the helper, which names them. The copies come
 * from the synchronous reader and, for threads off the CPU, from pjrecord-wait.
 *
 * Names must be read within 1 ms of the sample, but the main thread reads its records only twice a second. So this
 * thread waits for the copies, and stores the frames that the helper finds in them (framestore.h). If a process has run
 * no new code for 64 copies and 2.5 s, the helper has already read its names. Then the copies of the process are
 * deferred: the thread takes them every 60 ms, several in one request. New code in a deferred copy gets no name, and
 * ends the deferral.
 *
 * The thread also opens processes, which may take 20 ms each, and lists their threads. The main thread sends it orders
 * and takes its news; neither blocks the main thread.
 */
#ifndef PJ_INTERPTHREAD_H
#define PJ_INTERPTHREAD_H

#include "record/interpreters/interpclient.h"
#include "record/offcpu/waitframes.h"
#include "record/syncread/syncread.h"

struct interpthread;

/* Returns a new object. Starts nothing yet: interpthread_start starts the thread, and *starter starts the helper
 * process for the first process that is opened. all: true if INTERPRETERS_ALL is chosen. */
struct interpthread *interpthread_new(bool all, const struct interpstarter *starter);
/* Starts the thread; to be called once. copies, waits and store must outlive the thread. waits: memory for copies of
 * the frames of threads off the CPU; NULL: such frames are not read. Returns false on failure. */
bool interpthread_start(struct interpthread *thread, struct syncread *copies, struct waitframes *waits,
			struct framestore *store);
/* Ends the thread and the helper, and frees all. Accepts NULL. */
void interpthread_free(struct interpthread *thread);

/* An order of the main thread: open a process, list its threads again, or close it. number: number of the process in
 * this recording, never reused and not 0. */
enum interpthread_kind { INTERPTHREAD_OPEN, INTERPTHREAD_THREADS, INTERPTHREAD_CLOSE };

struct interpthread_order {
	enum interpthread_kind what;
	uint32_t pid;
	uint64_t number;
	uint64_t start; /* for INTERPTHREAD_OPEN: start time of the process in clock ticks since boot; 0: not checked */
};
/* Passes an order to the thread. Returns false if its queue is full: the caller must repeat the order later. */
bool interpthread_order(struct interpthread *thread, const struct interpthread_order *order);

/* Result of an order, or news that the helper has lost a process. */
struct interpthread_news {
	struct interpthread_news *next;
	uint64_t number;
	uint32_t pid;
	/* true: this is the result of INTERPTHREAD_OPEN; false: the result of INTERPTHREAD_THREADS, or the helper has
	 * lost the process */
	bool opened;
	/* True: the process could not be opened, or is no longer open. If it could not be opened, `result.answer` has
	 * the kind of the failure, and `result.why` the reason. */
	bool failed;
	/* true: the process was not opened because its own user may not read it, and INTERPRETERS_ALL is not chosen */
	bool is_private;
	struct interpclient_opened result; /* result of the opening; set if `opened` */
	int memory;                        /* if opened: descriptor for syncread_add_process; otherwise -1 */
	struct tenant tenant;              /* tenant of the process; set if `opened` */
	uint64_t since; /* time in ns before the first read of the process's memory for this result */
	struct interpreter_thread *thread; /* n threads, with thread ids as in the kernel's records */
	size_t n;
};
/* Returns the oldest news that was not taken yet; NULL if there is none. The caller frees it with
 * interpthread_news_free. To take ownership of the descriptor `memory`, the caller sets this member to -1 before. */
struct interpthread_news *interpthread_take(struct interpthread *thread);
void interpthread_news_free(struct interpthread_news *news);
/* Returns a descriptor that is readable while news wait. */
int interpthread_fd(const struct interpthread *thread);

/* Waits until the frames of all copies made until now are in the store, at most 100 ms. Without this call, deferred
 * copies are evaluated up to 60 ms after the sample. */
void interpthread_flush(struct interpthread *thread);

struct helper_counts interpthread_count(const struct interpthread *thread);

#endif
