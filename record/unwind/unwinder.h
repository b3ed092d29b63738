/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwinder.h - one object for all modules of a recording that unwind stacks.
 *
 * The modules are the unwind tables of files (cfitables.h), the code of JVMs (javacode.h), the names of interpreted
 * methods (javanames.h), the frames of interpreters (interpreters.h) and the conversion of samples (samplestack.h). If
 * the recording uses the kernel's frame-pointer callchains, the object is NULL. These functions do not accept NULL:
 * unwinder_sample, unwinder_allocation, unwinder_wait, unwinder_has_wait, unwinder_resumed, unwinder_skip,
 * unwinder_recount. All other functions accept NULL and then do nothing. One thread uses the object. Times are
 * clock_now(), in ns.
 */
#ifndef PJ_UNWINDER_H
#define PJ_UNWINDER_H

#include "record/interpreters/interpreters.h"
#include "record/java/allocations.h"
#include "record/offcpu/waitframes.h"
#include "record/offcpu/waitshare.h"
#include "record/processes/budgets.h"
#include "common/formats/pjsection.h"
#include "record/processes/namecounts.h"
#include "record/processes/processes.h"
#include "record/perf/rings.h"
#include "common/text.h"

struct unwinder;

struct unwinder_options {
	const struct processes *processes;
	struct budgets *budgets;
	struct sources *sources;
	struct rings *rings;
	uint32_t max_frames; /* maximum number of frames of a stack, counted from the leaf; 0: the default */
	/* value of kernel.perf_event_max_stack when the events were opened, in addresses; 0: its default */
	uint32_t max_stack;
	/* verify: true: compare stacks with frame-pointer callchains (samplestack_verify). shown: maximum number of
	 * differing stacks to print. */
	bool verify;
	unsigned shown;
	bool waits; /* true: unwinder_wait will be called */
	/* copies of interpreted frames of threads off the CPU; NULL: such frames are not read */
	struct waitframes *frames;
};

/* unwinder_fork returns a new object and forks the process that starts the helpers. Its caller must have dropped
 * privileges and must have no threads. interpreters: choice of the processes whose interpreted frames are read.
 * unwinder_start completes the object when the recording starts; the objects in *options must outlive it. unwinder_free
 * ends the helpers and frees the object. */
struct unwinder *unwinder_fork(enum interpreters_choice interpreters);
void unwinder_start(struct unwinder *unwinder, const struct unwinder_options *options);
void unwinder_free(struct unwinder *unwinder);

/* unwinder_fd returns a descriptor that is readable when unwinder_take has work; -1: never. unwinder_take receives the
 * unwind tables and interpreted frames that helpers have completed. It does not block. */
int unwinder_fd(const struct unwinder *unwinder);
void unwinder_take(struct unwinder *unwinder, uint64_t now);

/* Waits until the interpreted frames of all samples until now have arrived, at most 100 ms. */
void unwinder_flush(struct unwinder *unwinder);

/* Handles a record of process state, from a ring of kind RING_OF_STATE. Records must come in order of time. */
void unwinder_state(struct unwinder *unwinder, const struct ring_record *record);

/* Prepares the unwinding of samples up to the time `horizon` (ns). flush: true: the samples do not wait for helpers. */
void unwinder_begin(struct unwinder *unwinder, uint64_t horizon, uint64_t now, bool flush);

/* Converts a sample as samplestack_sample does. Returns false if the sample has to wait for unwind tables; never with
 * the `flush` of unwinder_begin. */
bool unwinder_sample(struct unwinder *unwinder, const struct perf_event_attr *attr, const struct ring_sample *sample,
		     struct text *out);

/* Returns true, and counts it, if this sample of an event that `allocates` (chunk.h) is of the same call as an earlier
 * sample of another event: then it must be dropped (allocation_repeats). */
bool unwinder_repeats(struct unwinder *unwinder, const struct perf_event_attr *attr, const struct ring_sample *sample,
		      uint64_t event);

/* Adds class and bytes to a converted sample of an event that `allocates` (chunk.h): the class as leaf frame, the bytes
 * as period. attr and sample are those of unwinder_sample. The window will have the name of the class. A class of a
 * process that cannot be read as a JVM, or beyond the limits of javanames.h, becomes the class without a name. */
void unwinder_allocation(struct unwinder *unwinder, const struct perf_event_attr *attr,
			 const struct ring_sample *sample, struct text *out);

/* Returns the numbers of samples of allocations since the start. */
struct allocation_counts unwinder_allocations(const struct unwinder *unwinder);

/* Properties of a stack that was read while its thread was off the CPU. until: time in ns until which the thread was
 * off the CPU at least. */
struct unwinder_read {
	uint64_t until;
	enum waitcopy_frames frames; /* result of the copy of the thread's interpreted frames */
	bool shown;                  /* set by unwinder_wait: true if the result has interpreted frames */
};

/* Converts a stack that was read off the CPU, as unwinder_sample converts a sample. Of its counts, unwinder_end adds
 * only those of interpreted frames. Sets *used to the bytes of the stack copy up to the root frame (samplestack_used).
 * Returns false if the stack has to wait for unwind tables. */
bool unwinder_wait(struct unwinder *unwinder, const struct perf_event_attr *attr, const struct ring_sample *sample,
		   struct unwinder_read *read, struct text *out, size_t *used);

/* Returns true if unwinder_wait need not wait for interpreted frames: either none are read, or the frames of thread
 * `tid`, which left the CPU at `time` (ns), were read and named before `until` (ns). Returns false if they may still
 * come. */
bool unwinder_has_wait(const struct unwinder *unwinder, uint32_t tid, uint64_t time, uint64_t until);

/* To be called when thread `tid` is on a CPU again or has ended: forgets the data of its last unwinder_wait. */
void unwinder_resumed(struct unwinder *unwinder, uint32_t tid);

/* Returns true if a process with an interpreter was sampled, and interpreted frames are not read. */
bool unwinder_saw_interpreter(const struct unwinder *unwinder);

/* Makes the current window name the Java frames of *sample, a stack of an earlier unwinder_wait (samplestack_note).
 * Changes the addresses of interpreted frames in *sample if they have other numbers in this window. */
void unwinder_note(struct unwinder *unwinder, struct ring_sample *sample);

/* Writes a sample of a tenant over budget to *out, without unwinding (samplestack_skip). Returns false if the record
 * does not match attr. */
bool unwinder_skip(struct unwinder *unwinder, const struct perf_event_attr *attr, const struct ring_sample *sample,
		   struct text *out);

/* Corrects the counts of stacks after the callchain ips[0..nips) was replaced by that of a tenant over budget
 * (samplestack_recount). */
void unwinder_recount(struct unwinder *unwinder, const uint64_t *ips, uint64_t nips);

/* Reads the names of the interpreted Java methods that occurred in stacks, while their JVMs live. */
void unwinder_name(struct unwinder *unwinder);
/* Frees unused unwind tables and ends idle helpers. Call it every few seconds. */
void unwinder_tick(struct unwinder *unwinder, uint64_t now);

/* Ends a window: reads pending names, returns the counts of the window's stacks, and sets *names to the names of
 * processes with broken stacks or stacks of unknown completeness. Resets these counts and names. */
struct pj_unwinding unwinder_end(struct unwinder *unwinder, struct stacks_by_name *names);

/* Appends the unwinder's items of FEATURE_PJ_END to text: the counts of a window, and the names of its methods and
 * code. stream: true: the recording is one window that is written to a pipe (codenames_put). */
void unwinder_put(struct unwinder *unwinder, const struct pj_unwinding *counts, bool stream, struct text *text);
/* Appends the items about code of JVMs that is new since the last call, for a recording that is written to a pipe. */
void unwinder_put_code(struct unwinder *unwinder, struct text *text);

/* Return the counts of failures of helper processes since the start. unwinder_helpers: makers of unwind tables.
 * unwinder_jvm_helpers: readers of JVMs. unwinder_interpreter_helpers: readers of interpreters. */
struct helper_counts unwinder_helpers(const struct unwinder *unwinder);
struct helper_counts unwinder_jvm_helpers(const struct unwinder *unwinder);
struct helper_counts unwinder_interpreter_helpers(const struct unwinder *unwinder);

#endif
