/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scripts.h - the processes that run an interpreter: opens each in the thread of interpthread.h, and registers its
 * threads with the readers of their frames, syncread.h and waitframes.h.
 *
 * A process is noted at each of its samples. It is opened at the first one; where that fails, again after a pause that
 * grows. A thread that is not registered makes the list of threads to be read again, at most each 50 ms. What a sample
 * needs before its time has come is done later without another sample, as the threads may sleep.
 *
 * Order of calls: scripts_new, scripts_start, then all others; one thread makes all calls.
 */
#ifndef PJ_SCRIPTS_H
#define PJ_SCRIPTS_H

#include "common/process/backoff.h"
#include "record/interpreters/framestore.h"
#include "record/interpreters/interpreter.h"
#include "record/interpreters/onestack.h"
#include "record/offcpu/waitframes.h"
#include "record/processes/processes.h"
#include "record/syncread/syncread.h"

enum script_state { SCRIPT_CLOSED, SCRIPT_OPENING, SCRIPT_OPEN };

/* A process with an interpreter. */
struct script {
	uint64_t number;
	uint32_t pid;
	struct tenant tenant;
	enum script_state state;
	uint64_t began;   /* process.since: changes with an exec */
	uint64_t version; /* of the mappings, at the last attempt to open it */
	uint64_t retry, pause;
	uint64_t threads_at, threads_pause; /* ns: earliest time of the next list of threads; time between two lists */
	bool on_stack;                      /* plan.stack: its frames are on the native stack */
	bool listing;                       /* a list of threads is on its way */
	/* A stack needed that it is opened, or that its threads are listed, before the time for that had come: then it
	 * is done without another one, as its threads may sleep. */
	bool reopen, relist;
	uint32_t language, nevals;
	bool frames_lead, frame_in_r14; /* of struct interpreter */
	struct onestack_range eval[INTERPRETER_EVALS_MAX];
	bool is_private;           /* interpthread_news.is_private */
	char why[INTERPRETER_WHY]; /* reason of the last refusal */
};

struct scripts;

/* What a struct scripts refers to, and does not own. waits: NULL: threads off the CPU are not read. */
struct scripts_readers {
	const struct processes *processes;
	struct syncread *syncread;
	struct waitframes *waits;
	struct framestore *store; /* gets the frames */
};

/* Starts the helper process: the caller has no threads yet. all: also processes that root alone may read. */
struct scripts *scripts_new(bool all);
/* *readers must outlive the result. */
void scripts_start(struct scripts *scripts, const struct scripts_readers *readers);
/* Ends the thread and the helper. Accepts NULL. */
void scripts_free(struct scripts *scripts);

/* Returns true once a process has been opened: then there is a thread. */
bool scripts_started(const struct scripts *scripts);
/* The descriptor that is readable when scripts_take has work. */
int scripts_fd(const struct scripts *scripts);

/* Returns the script of a process, which is opened, or opened again, if necessary; NULL if it has no interpreter. */
struct script *scripts_note(struct scripts *scripts, const struct process *process);
/* Returns the script of a process; NULL if it has none. */
struct script *scripts_find(const struct scripts *scripts, uint32_t pid);
/* Requests the list of threads of a process, since one is not registered. */
void scripts_list(struct scripts *scripts, struct script *script);

/* Takes what the thread has found. */
void scripts_take(struct scripts *scripts, uint64_t now);
/* Waits until the frames of all copies until now are in the store, for 100 ms at most. */
void scripts_flush(struct scripts *scripts);
/* Forgets processes that have ended. */
void scripts_tick(struct scripts *scripts, uint64_t now);

/* With PJ_DEBUG=unwind, prints the number of threads that had no place in `waits`. */
void scripts_debug(const struct scripts *scripts);
/* As interpreters_private. */
uint64_t scripts_private(const struct scripts *scripts);
struct helper_counts scripts_helpers(const struct scripts *scripts);

#endif
