/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreters.h - the interpreted frames of sampled threads, for the main thread: which processes run an interpreter,
 * and what their threads ran at the time of a sample.
 *
 * A process that maps a file of an interpreter is opened at its first sample (interpthread.h), in other threads and
 * processes. Once it is open, its threads are registered with the synchronous reader (syncread.h), which copies their
 * frames at each sample. A thread that is not registered makes the list of threads to be read again, at most each
 * 50 ms. A list of frames is used only if the reader certifies that the thread ran nothing meanwhile, and if it matches
 * the native stack (onestack.h, jsstacks.h); otherwise the stack keeps its native frames, and the reason is counted.
 * Frames of V8 are in the sample's own copy of the native stack: they need no certificate.
 *
 * A thread that is off the CPU is read by pjrecord-wait (waitframes.h). Its frames stand still until it runs again, so
 * the certificate is that of its native stack: the copy, and names that may change after that, were read before.
 * Frames of V8 are not shown there: its garbage collector moves objects while a thread waits for it.
 *
 * Nothing is started before the first such process, except for one helper process.
 */
#ifndef PJ_INTERPRETERS_H
#define PJ_INTERPRETERS_H

#include "common/formats/pjsection.h"
#include "common/process/backoff.h"
#include "record/offcpu/waitframes.h"
#include "record/offcpu/waitshare.h"
#include "record/perf/rings.h"
#include "record/perf/sources.h"
#include "record/processes/processes.h"

struct interpreters;
struct walk; /* unwind/walk.h */

/* The processes whose interpreters are read. */
enum interpreters_choice {
	INTERPRETERS_OFF,
	INTERPRETERS_ON,  /* those that their own user may read */
	INTERPRETERS_ALL, /* those that root alone may read, too, if the recorder is root (taskid_reader) */
	INTERPRETERS_AUTO /* of the option: ON with the right to real-time priority, OFF without */
};

/* Starts the helper process: the caller has dropped privileges and has no threads yet. choice: ON or ALL. */
struct interpreters *interpreters_new(enum interpreters_choice choice);
/* All arguments must outlive the result. waits: copies of threads off the CPU; NULL: none. */
void interpreters_start(struct interpreters *interpreters, const struct processes *processes, struct sources *sources,
			struct rings *rings, struct waitframes *waits);
/* Ends all threads and processes. Accepts NULL. */
void interpreters_free(struct interpreters *interpreters);

/* Descriptors that are readable when interpreters_take has work. */
enum { INTERPRETERS_FDS = 2 };
void interpreters_fds(const struct interpreters *interpreters, int fd[INTERPRETERS_FDS]);

/* Takes what other threads found. Call it before each rings_drain, and when a descriptor is readable. */
void interpreters_take(struct interpreters *interpreters, uint64_t now);

/* Waits until the frames of all samples until now can be merged, for 100 ms at most. */
void interpreters_flush(struct interpreters *interpreters);

/* Takes a record of RING_OF_STATE, in order of time: processes and threads that end. */
void interpreters_state(struct interpreters *interpreters, const struct ring_record *record);

/* The register whose values the walk of a sample has to keep (walk.slot): r14 on x86-64. */
#define INTERPRETERS_SLOT 14u

/* A walked sample. */
struct interpreters_sample {
	const struct process *process; /* NULL: unknown */
	uint32_t tid, cpu;
	bool in_kernel; /* sampled in kernel mode */
	uint64_t time;
	/* 0: a sample. Otherwise the stack was read after the switch-out at `time`, and the thread was off the CPU at
	 * least up to here. */
	uint64_t until;
	enum waitcopy_frames frames; /* of such a stack */
	const uint64_t *registers;   /* user registers, as processor_here()->perf selects them */
	size_t nregisters;
	uint64_t stack_pointer, stack_bytes; /* stack_bytes: of the native stack that are copied */
	/* Returns true if a register, or the stack near the leaf, holds this value. */
	bool (*holds)(void *owner, uint64_t value);
	void *owner;
	uint32_t max; /* maximum number of frames */
};

/* Puts the interpreted frames of a sample into its walk, and counts the result in *counts. To be called once for each
 * sample, in order of time. */
void interpreters_merge(struct interpreters *interpreters, const struct interpreters_sample *sample, struct walk *walk,
			struct pj_unwinding *counts);

/* Returns true if the frames of a thread, off the CPU since `time`, were read and named before `until`. */
bool interpreters_has_wait(const struct interpreters *interpreters, uint32_t tid, uint64_t time, uint64_t until);

/* Names the frames of a thread that is off the CPU in this window, too: ips[0..nips) is the callchain that it has since
 * an earlier window. Addresses that stand for other frames now are replaced. */
void interpreters_rename(struct interpreters *interpreters, uint32_t tid, uint64_t *ips, uint64_t nips);

/* Forgets the names of a thread, which was on a CPU again, or has ended. */
void interpreters_resumed(struct interpreters *interpreters, uint32_t tid);

/* Returns true if the frames of the process's interpreter are on its native stack: interpreters_merge then replaces
 * frames, and adds none. */
bool interpreters_are_native(const struct interpreters *interpreters, const struct process *process);

/* Forgets processes that have ended. Call it every few seconds. */
void interpreters_tick(struct interpreters *interpreters, uint64_t now);

/* Appends the items of the window to text. */
void interpreters_end(struct interpreters *interpreters, struct text *text);

/* Returns the number of processes that were refused since their own user may not read them, and not by ALL, and live.
 */
uint64_t interpreters_private(const struct interpreters *interpreters);
struct helper_counts interpreters_helpers(const struct interpreters *interpreters);

#endif
