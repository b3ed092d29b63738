/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waitstacks.h - complete stacks of threads that are off the CPU: unwinds copies of their stacks that the records of
 * context switches certify.
 *
 * The process pjrecord-wait makes the copies (waitcopies.h), offcpu.h decides if a copy is certified, and the unwinder
 * makes callchains as for samples. A copy is unwound when records have been processed up to the end of its read, so
 * that the mappings of that time are known. If unwind tables are still being made then, the record of the thread's
 * return to a CPU waits in its ring. A wait without a certified copy keeps the callchain from the kernel. All functions
 * except waitstacks_new accept NULL, and then do nothing.
 */
#ifndef PJ_WAITSTACKS_H
#define PJ_WAITSTACKS_H

#include "record/offcpu/switches.h"
#include "record/offcpu/waitcopies.h"
#include "record/processes/budgets.h"
#include "record/processes/state.h"
#include "record/unwind/unwinder.h"

struct waitstacks_options {
	struct switches *switches;
	struct unwinder *unwinder;
	struct state *state;
	struct budgets *budgets;
	/* limit for the frames of a stack; a tenant without budget for so many gets no stack */
	uint32_t max_frames;
	/* true: stacks are read only of processes whose off-CPU times are recorded; false: of all processes */
	bool some;
};

struct waitstacks;

/* Forks pjrecord-wait, the process that reads stacks, and returns a new object; NULL if the processor is not supported.
 * The caller must have dropped its privileges, and must not have threads yet. attr: attributes of the event of context
 * switches. rings and sources must outlive the object. interpreters: true: frames of interpreters are read, too. */
struct waitstacks *waitstacks_new(const struct perf_event_attr *attr, const struct rings *rings,
				  const struct sources *sources, bool interpreters);
/* Returns the copies of frames of interpreters, for unwinder_options; NULL: no frames are copied. waitstacks_free frees
 * them. */
struct waitframes *waitstacks_frames(const struct waitstacks *waitstacks);
void waitstacks_free(struct waitstacks *waitstacks);
/* Starts to read stacks. The objects in *options must outlive waitstacks. */
void waitstacks_start(struct waitstacks *waitstacks, const struct waitstacks_options *options);
/* Sends the rings of the current CPUs to pjrecord-wait. If waitstacks_begin has returned true, the caller must call
 * this function, once the events of the new CPUs are open. */
void waitstacks_follow(struct waitstacks *waitstacks);

/* Must be called at time `now` (ns) before records are taken out of the rings. Collects new copies, and checks
 * pjrecord-wait and the CPUs. Returns true if CPUs without events have appeared, or CPUs with events have gone, since
 * the last call. Records of a CPU without events are missing, so no copy is certified until all CPUs have events. */
bool waitstacks_begin(struct waitstacks *waitstacks, uint64_t now);
/* Must be called with each record of switches or state, before switches_record. Decides on the copies of a thread that
 * returns to a CPU. Returns false if the record must remain in its ring (rings_hold), as unwind tables are still being
 * made; then the caller must not call switches_record. */
bool waitstacks_record(struct waitstacks *waitstacks, const struct ring_record *record);
/* Must be called with the same record after switches_record, which may emit the last off-CPU time of the record's
 * thread. */
void waitstacks_recorded(struct waitstacks *waitstacks, const struct ring_record *record);
/* Decides on the copies of threads that are still off the CPU. Must be called when exactly the records before time
 * `until` (ns) have been processed. */
void waitstacks_settle(struct waitstacks *waitstacks, uint64_t until);
struct helper_counts waitstacks_helpers(const struct waitstacks *waitstacks);
/* Returns the numbers, since the start, of stacks that were read, and of stacks that were not, by reason. */
struct waitcounters waitstacks_counters(const struct waitstacks *waitstacks);

#endif
