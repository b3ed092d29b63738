/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreters.h - adds the interpreted frames of sampled threads to their stacks, for the main thread of pjrecord.
 *
 * A process that maps a file of an interpreter is opened at its first sample, by other threads and processes
 * (interpthread.h). Once it is open, its threads are registered with the synchronous reader (syncread.h), which copies
 * their frames at each sample. A sample of a thread that is not registered requests a new list of the process's
 * threads, at most every 50 ms. A list of frames is used only if the reader certifies that the thread did not run
 * between sample and copy, and if the list matches the native stack (onestack.h, jsstacks.h). If not, the stack keeps
 * only its native frames, and the sample is added to the count for the reason. Frames of V8 are in the sample's own
 * stack copy: they need no certificate.
 *
 * The frames of a thread that is off the CPU are read by pjrecord-wait (waitframes.h). They do not change until the
 * thread runs again. So the certificate of its native stack holds for them, too, if the copy, and names that may change
 * after the copy, were read before the thread ran again. Frames of V8 are not shown for such threads: V8's garbage
 * collector moves objects while a thread waits for it.
 *
 * Before the first sample of a process with an interpreter, the module starts no thread and no helper process, and
 * requests no records of context switches.
 */
#ifndef PJ_INTERPRETERS_H
#define PJ_INTERPRETERS_H

#include "common/formats/pjsection.h"
#include "common/process/backoff.h"
#include "record/interpreters/interpstarter.h"
#include "record/offcpu/waitframes.h"
#include "record/offcpu/waitshare.h"
#include "record/perf/rings.h"
#include "record/perf/sources.h"
#include "record/processes/processes.h"

struct hostframe;
struct interpreters;
struct walk;

/* Selects the processes whose interpreters are read (option --interpreters). */
enum interpreters_choice {
	INTERPRETERS_OFF,
	INTERPRETERS_ON,  /* processes that their own user may read */
	INTERPRETERS_ALL, /* also processes that only root may read, if the recorder is root (taskid_reader) */
	/* value of the option --interpreters only: becomes ON if the recorder may use real-time priority, otherwise OFF
	 */
	INTERPRETERS_AUTO
};

/* Returns a new object that has started nothing. choice: INTERPRETERS_ON or INTERPRETERS_ALL. starter: starts the
 * helper process; copied, its owner must outlive the object. */
struct interpreters *interpreters_new(enum interpreters_choice choice, const struct interpstarter *starter);
/* Connects the module to the recorder. All arguments must outlive *interpreters. waits: memory for copies of the frames
 * of threads off the CPU; NULL: such frames are not read. */
void interpreters_start(struct interpreters *interpreters, const struct processes *processes, struct sources *sources,
			struct rings *rings, struct waitframes *waits);
/* Ends all threads and helper processes. Accepts NULL. */
void interpreters_free(struct interpreters *interpreters);

/* Sets fd[] to descriptors that are readable when interpreters_take has work. */
enum { INTERPRETERS_FDS = 2 };
void interpreters_fds(const struct interpreters *interpreters, int fd[INTERPRETERS_FDS]);

/* Takes the results of the module's other threads. The caller calls it before each rings_drain, and when a descriptor
 * is readable. */
void interpreters_take(struct interpreters *interpreters, uint64_t now);

/* Waits until the frames of all samples until now can be merged, at most 100 ms. */
void interpreters_flush(struct interpreters *interpreters);

/* Processes a record of RING_OF_STATE: threads and processes that end or change. The caller passes records in order of
 * time. */
void interpreters_state(struct interpreters *interpreters, const struct ring_record *record);

/* Number of the register whose values the stack walk of a sample must record (walk.slot): r14 on x86-64. */
#define INTERPRETERS_SLOT 14u

/* A sample whose native stack was walked. */
struct interpreters_sample {
	const struct process *process; /* NULL: the process is unknown */
	uint32_t tid, cpu;
	bool in_kernel; /* true if the sample was taken in kernel mode */
	uint64_t time;
	/* 0: the thread was sampled while it ran. Otherwise the stack was read after the switch-out at `time`, and the
	 * thread was off the CPU at least until this time in ns. */
	uint64_t until;
	enum waitcopy_frames frames; /* if `until` is not 0: result of copying the interpreter's frames */
	const uint64_t *registers;   /* user registers in the order of the mask processor_here()->perf */
	size_t nregisters;
	/* stack_pointer: address of the first byte of the stack copy; stack_bytes: number of bytes in the stack copy
	 * from that address on */
	uint64_t stack_pointer, stack_bytes;
	/* Returns true if a user register, or the native stack near the leaf, holds `value`. */
	bool (*holds)(void *owner, uint64_t value);
	void *owner;
	uint32_t max; /* maximum number of frames of the merged stack */
};

/* Merges the interpreted frames of a sample into its walk, and adds the result to *counts. The caller calls it once for
 * each sample, in order of time. */
void interpreters_merge(struct interpreters *interpreters, const struct interpreters_sample *sample, struct walk *walk,
			struct pj_unwinding *counts);

/* Returns true if the frames of a thread that is off the CPU since `time` (ns) were read and named before `until`
 * (ns). */
bool interpreters_has_wait(const struct interpreters *interpreters, uint32_t tid, uint64_t time, uint64_t until);

/* For a thread that has been off the CPU since an earlier window: adds the names of its frames to the names of this
 * window. ips[0..nips) is the thread's callchain from the earlier window. Replaces addresses that stand for another
 * frame in this window. */
void interpreters_rename(struct interpreters *interpreters, uint32_t tid, uint64_t *ips, uint64_t nips);

/* Removes the names of a thread's wait, because the thread ran again or has ended. */
void interpreters_resumed(struct interpreters *interpreters, uint32_t tid);

/* Returns true if the interpreter of the process has its frames on the native stack: interpreters_merge then replaces
 * native frames. False: it inserts interpreted frames between native ones. */
bool interpreters_are_native(const struct interpreters *interpreters, const struct process *process);

/* Returns the description, for unwinder_host_frame, of generated code that depends on the eval function of the
 * process's interpreter; NULL if the process has no such code, or is not open yet. Valid until interpreters_tick. */
const struct hostframe *interpreters_hostframe(const struct interpreters *interpreters, const struct process *process);

/* To be called if a process runs code in a mapping with this path and interpreters_hostframe returns NULL. If that may
 * be generated code that did not exist when the process was opened (PHP: no function was compiled yet), the process is
 * opened again at a later sample. */
void interpreters_found_code(struct interpreters *interpreters, const struct process *process, struct str path);

/* Forgets processes that have ended. The caller calls it every few seconds. */
void interpreters_tick(struct interpreters *interpreters, uint64_t now);

/* Appends the names of the window, as items, to text, and starts the next window. */
void interpreters_end(struct interpreters *interpreters, struct text *text);

/* Returns the number of live processes that were refused because their own user may not read them while
 * INTERPRETERS_ALL is not chosen. */
uint64_t interpreters_private(const struct interpreters *interpreters);
struct helper_counts interpreters_helpers(const struct interpreters *interpreters);

#endif
