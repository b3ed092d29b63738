/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switches.h - off-CPU samples of a recording, made from the records of its rings in the format of the kernel.
 *
 * offcpu.h computes the off-CPU times. This module chooses the processes, builds samples in the kernel's format and
 * finds out which threads are alive. These functions do not accept NULL: switches_early, switches_weigh,
 * switches_drop_stack and switches_wanted. All other functions but switches_new accept NULL and then do nothing.
 */
#ifndef PJ_SWITCHES_H
#define PJ_SWITCHES_H

#include "record/offcpu/earlywaits.h"
#include "record/offcpu/offcpu.h"
#include "record/processes/processes.h"

/* Options of a recording. Pointers must stay valid until switches_free. */
struct switches_options {
	uint64_t event; /* id of the event for samples of blocked time; event + 1 is that for preempted time */
	/* minimum off-CPU time in ns; shorter times are counted and not emitted as samples */
	uint64_t least_ns;
	/* true: this is a wall-clock profile. Then event + 2 is the event for on-CPU time that is in no sample, and all
	 * off-CPU times become samples, including those without callchain. */
	bool wall;
	bool cgroup; /* true: samples of context switches end with their cgroup id */
	/* true: stacks are read while threads are off the CPU, so callchains end with the context markers of
	 * PJ_ITEM_UNWINDING */
	bool marks;
	bool all; /* true: all threads of the host are known, so threads that never ran are counted */
	/* early: true: threads that have been off the CPU since before the recording are read or counted. targets:
	 * true: this applies to the threads of target processes only. */
	bool early, targets;
	bool own; /* true: the left-out processes would be in the recording otherwise, so they are counted */
	struct processes *processes;
	/* Returns true if the off-CPU times of process pid are recorded. */
	bool (*wanted)(void *to, uint32_t pid);
	/* Receives each sample, which it may change; the sample is valid during the call. */
	void (*emit)(void *to, struct ring_sample *sample);
	void *to;
};

struct switches;

/* Returns the state of a recording, for use by one thread. Off-CPU times are recorded from switches_begin on. The
 * caller frees the state with switches_free. */
struct switches *switches_new(const struct switches_options *options);
void switches_free(struct switches *switches);
/* Starts the recording at time ns (CLOCK_MONOTONIC): off-CPU time before ns is not recorded. */
void switches_begin(struct switches *switches, uint64_t ns);

/* Makes the table of the user threads of recorded processes that existed before the recording (earlywaits.h). The
 * caller must have read the processes from /proc before. now: current time in ns. Does nothing without
 * switches_options.early. */
void switches_begin_early(struct switches *switches, uint64_t now);
/* Returns the table that switches_begin_early makes, of threads that existed before the recording. switches must not be
 * NULL. */
struct earlywaits *switches_early(struct switches *switches);

/* Updates the table of switches_begin_early, at most twice a second. The caller calls it at least once a second, after
 * it has applied the pending records. now: current time in ns. */
void switches_tick(struct switches *switches, uint64_t now);

/* Applies a record of the kernel. The caller passes every record of switch rings except LOST, and every record of state
 * rings. */
void switches_record(struct switches *switches, const struct ring_record *record);
/* Sets the period of a sample of CPU time in a wall-clock profile to the on-CPU time of its thread since the thread's
 * previous sample (oncpu.h), in ns; to 0 if that time is unknown. cgroup: id of the thread's cgroup, 0 if unknown.
 * Returns false, without setting the period, for a sample of a left-out process. */
bool switches_weigh(struct switches *switches, struct ring_sample *sample, uint64_t cgroup);
/* Returns the sum of the on-CPU times in samples so far, in ns. */
uint64_t switches_oncpu_ns(const struct switches *switches);
/* Handles a loss of FORK or EXIT records in a wall-clock profile: from now on, the time before the first record of a
 * thread is in no sample (offcpu_newcomers, oncpu_newcomers). */
void switches_newcomers(struct switches *switches);
/* Returns true if the callchain ips[0..nips) of an off-CPU sample is the kernel's, because the stack was not read, as
 * the context markers at its end show (switches_options.marks); false for any other callchain. */
bool switches_is_unread(const uint64_t *ips, uint64_t nips);
/* Counts the sample that is being emitted as one whose stack was not read. `emit` calls it when it replaces the
 * sample's callchain because the tenant is over budget. */
void switches_drop_stack(struct switches *switches);
/* Returns true if the off-CPU times of process pid are recorded. */
bool switches_wanted(const struct switches *switches, uint32_t pid);
/* Leaves a process out of the recording until it ends, with all processes that it starts from now on (leftout.h).
 * Records of these processes are ignored, the times of their threads end, and their threads are not counted as threads
 * that never ran. */
void switches_leave_out(struct switches *switches, uint32_t pid);
/* Includes all left-out processes in the recording again. After lost records, the caller then leaves out the processes
 * that still run. */
void switches_leave_out_none(struct switches *switches);
/* Returns the state of off-CPU times; NULL if switches is NULL. */
struct offcpu *switches_offcpu(struct switches *switches);
/* Adds n to the number of lost records of switch rings in this window. */
void switches_lost(struct switches *switches, uint64_t n);

/* switches_mark_stale starts, and switches_sure ends, the handling of records near a loss (offcpu_mark_stale). If
 * records later than time ns were lost, the caller calls switches_mark_stale before it takes further records from the
 * rings, and switches_sure after it has applied those records. */
void switches_mark_stale(struct switches *switches, uint64_t ns);
void switches_sure(struct switches *switches);

/* Ends the threads that have ended but whose EXIT record was lost. The caller calls it after a thread scan. */
void switches_mend(struct switches *switches);

/* Ends a window at time ns: emits off-CPU times up to ns. Returns the counts since the previous call. */
struct pj_offcpu switches_end(struct switches *switches, uint64_t ns);

#endif
