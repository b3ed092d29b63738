/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waitstacks.h - complete stacks of threads that are off the CPU: unwinds copies of their stacks that the records of
 * switches certify.
 *
 * The process pjrecord-wait makes the copies (waitcopies.h), offcpu.h gives the verdicts, the unwinder makes callchains
 * as of samples. A copy is unwound when the stream of records has reached the end of its read, so the mappings are
 * those of its time; where unwind tables are being made, the record of the thread's return waits in its ring. A wait
 * without certified copy keeps the callchain of the kernel. All functions but waitstacks_new accept NULL and do
 * nothing.
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
	uint32_t max_frames;
	bool some; /* true: stacks are read only of processes whose off-CPU times are recorded; false: those of all are
		    */
};

struct waitstacks;

/* Returns a new object for an event of context switches with this attr, whose rings and sources outlive it, and forks
 * the process that reads stacks: the caller has dropped privileges and has no threads yet. interpreters: frames of
 * interpreters are read, too. Returns NULL if the processor is not supported. */
struct waitstacks *waitstacks_new(const struct perf_event_attr *attr, const struct rings *rings,
				  const struct sources *sources, bool interpreters);
/* Returns the copies of frames of interpreters, for unwinder_options; NULL: none are made. They are freed by
 * waitstacks_free. */
struct waitframes *waitstacks_frames(const struct waitstacks *waitstacks);
void waitstacks_free(struct waitstacks *waitstacks);
/* Starts to read stacks. What the options point to must outlive the object. */
void waitstacks_start(struct waitstacks *waitstacks, const struct waitstacks_options *options);
/* To be called if CPUs came or went. */
void waitstacks_follow(struct waitstacks *waitstacks);

/* To be called before records are taken out of the rings, at time `now`, up to an earlier one. Checks the process that
 * reads stacks, too, and the CPUs. Returns true if these have changed since the last call: the records of a CPU without
 * events are missing, so nothing is certified until they have events. */
bool waitstacks_begin(struct waitstacks *waitstacks, uint64_t now);
/* To be called before switches_record with the same record, of switches or state. Returns false if that is not to be
 * called, because the record must stay in its ring (rings_hold), as unwind tables are being made. */
bool waitstacks_record(struct waitstacks *waitstacks, const struct ring_record *record);
/* To be called after switches_record with the same record: that may emit the last off-CPU time of its thread. */
void waitstacks_recorded(struct waitstacks *waitstacks, const struct ring_record *record);
/* Gives stacks to the threads that are still off the CPU: all records before `until` were taken, and none after it. */
void waitstacks_settle(struct waitstacks *waitstacks, uint64_t until);
struct helper_counts waitstacks_helpers(const struct waitstacks *waitstacks);
/* Returns the numbers of stacks that were read, and of those that were not, since the start. */
struct waitcounters waitstacks_counters(const struct waitstacks *waitstacks);

#endif
