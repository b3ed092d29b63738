/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scripts.h - the processes that run an interpreter: opens each process in the thread of interpthread.h, and registers
 * its threads with the readers of their frames, syncread.h and waitframes.h.
 *
 * The caller reports each sample of a process. A process is opened at its first sample; if that fails, it is tried
 * again after a pause that doubles with each failure. A sample of a thread that is not registered requests a new list
 * of the process's threads, at most every 50 ms. If a sample needs the process opened, or a list of threads, while the
 * pause still lasts, this is done after the pause without another sample, because the threads may sleep.
 *
 * Order of calls: scripts_new, scripts_start, then all others; one thread makes all calls.
 */
#ifndef PJ_SCRIPTS_H
#define PJ_SCRIPTS_H

#include "common/process/backoff.h"
#include "record/interpreters/framestore.h"
#include "record/interpreters/interpreter.h"
#include "record/interpreters/interpstarter.h"
#include "record/interpreters/onestack.h"
#include "record/offcpu/waitframes.h"
#include "record/processes/processes.h"
#include "record/syncread/syncread.h"
#include "unwind/hostframe.h"

enum script_state { SCRIPT_CLOSED, SCRIPT_OPENING, SCRIPT_OPEN };

/* A process that runs an interpreter. */
struct script {
	uint64_t number;
	uint32_t pid;
	struct tenant tenant;
	enum script_state state;
	uint64_t began;   /* process.since in ns, which changes with an exec */
	uint64_t version; /* version of the mappings at the last attempt to open the process */
	uint64_t retry, pause;
	/* threads_at: time in ns before which no new list of threads is requested; threads_pause: pause in ns between
	 * two lists */
	uint64_t threads_at, threads_pause;
	bool on_stack; /* true: the interpreter has its frames on the native stack (plan.stack) */
	bool listing;  /* true: a list of threads was requested and has not arrived */
	/* reopen, relist: a sample needed the process opened (reopen) or its threads listed (relist) while the pause
	 * still lasted. This is done after the pause without another sample, because the threads may sleep. */
	bool reopen, relist;
	uint32_t language, nevals;
	/* members of struct interpreter with these names, for the language of the process */
	bool frames_lead, frame_in_r14;
	struct onestack_range eval[INTERPRETER_EVALS_MAX];
	struct hostframe hostframe; /* generated code that depends on the eval function */
	/* true: the open process has generated code that `hostframe` lacks, so it is opened again */
	bool outdated;
	/* true: the process is refused because its own user may not read it (interpthread_news.is_private) */
	bool is_private;
	char why[INTERPRETER_WHY]; /* reason of the last refusal; a string */
};

struct scripts;

/* Objects that struct scripts uses and does not own. waits: memory for copies of the frames of threads off the CPU;
 * NULL: such frames are not read. */
struct scripts_readers {
	const struct processes *processes;
	struct syncread *syncread;
	struct waitframes *waits;
	struct framestore *store; /* store for the frames that the thread finds */
};

/* Returns a new object. Starts nothing yet: *starter starts the helper process for the first script. all: also read
 * processes that only root may read. */
struct scripts *scripts_new(bool all, const struct interpstarter *starter);
/* Sets the objects to use. They must outlive *scripts. */
void scripts_start(struct scripts *scripts, const struct scripts_readers *readers);
/* Ends the thread and the helper, and frees all. Accepts NULL. */
void scripts_free(struct scripts *scripts);

/* Returns true once the first process is being opened: from then on, the thread runs. */
bool scripts_started(const struct scripts *scripts);
/* Returns a descriptor that is readable when scripts_take has work. */
int scripts_fd(const struct scripts *scripts);

/* Returns the script of a process; NULL if the process has no interpreter, has exited, or has called exec and cannot be
 * closed yet because the queue of orders is full. Opens the process if it is not open and its pause is over. */
struct script *scripts_note(struct scripts *scripts, const struct process *process);
/* Returns the script of a process; NULL if the process has none. Does not open the process. */
struct script *scripts_find(const struct scripts *scripts, uint32_t pid);
/* Requests a new list of the process's threads, now or once the pause is over. To be called if a sampled thread is not
 * registered. */
void scripts_list(struct scripts *scripts, struct script *script);

/* Takes the results of the thread: registers processes and threads. now: time in ns. */
void scripts_take(struct scripts *scripts, uint64_t now);
/* Waits until the frames of all copies made until now are in the store, at most 100 ms. */
void scripts_flush(struct scripts *scripts);
/* Forgets processes that have ended. now: time in ns. */
void scripts_tick(struct scripts *scripts, uint64_t now);

/* With PJ_DEBUG=unwind, prints the number of threads for which `waits` had no free slot. */
void scripts_debug(const struct scripts *scripts);
/* Returns the number of processes that were refused because their own user may not read them (script.is_private). */
uint64_t scripts_private(const struct scripts *scripts);
struct helper_counts scripts_helpers(const struct scripts *scripts);

#endif
