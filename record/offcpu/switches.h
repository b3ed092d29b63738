/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switches.h - off-CPU samples of a recording, made from the records of its rings in the format of the kernel.
 *
 * offcpu.h computes the times. This module adds the choice of processes, the format of samples and the check which
 * threads live. All functions but switches_new accept NULL and then do nothing.
 */
#ifndef PJ_SWITCHES_H
#define PJ_SWITCHES_H

#include "record/offcpu/earlywaits.h"
#include "record/offcpu/offcpu.h"
#include "record/processes/processes.h"

/* Options of a recording. Pointers must stay valid until switches_free. */
struct switches_options {
	uint64_t event; /* index of the event for samples of blocked time; event + 1 is that of preempted time */
	/* off-CPU times shorter than this, in ns, are counted and are no samples */
	uint64_t least_ns;
	/* true: a wall-clock profile: event + 2 is that of on-CPU time without sample, and all off-CPU times are
	 * samples, also those without callchain */
	bool wall;
	bool cgroup; /* true: samples of context switches end with their cgroup id */
	/* true: callchains end with the marks of PJ_ITEM_UNWINDING, as stacks are read while threads are off the CPU */
	bool marks;
	bool all; /* true: all threads of the host are known, so those that never ran are counted */
	/* true: threads that wait since before the recording are read or counted; of processes that are targets only,
	 * with `targets` */
	bool early, targets;
	bool own; /* true: the processes that are left out would be in the recording, so they are counted */
	struct processes *processes;
	/* returns true if the off-CPU times of process pid are recorded */
	bool (*wanted)(void *to, uint32_t pid);
	/* receives each sample, which it may change; it is valid during the call */
	void (*emit)(void *to, struct ring_sample *sample);
	void *to;
};

struct switches;

/* Returns the state of a recording, for use by one thread. Off-CPU times count from switches_begin on. */
struct switches *switches_new(const struct switches_options *options);
/* Frees the state of a recording. */
void switches_free(struct switches *switches);
/* Starts the recording at ns: off-CPU time before ns does not count. */
void switches_begin(struct switches *switches, uint64_t ns);

/* Makes the table of the threads that are off the CPU since before the recording (earlywaits.h): user threads in
 * `processes` that are recorded. Called after these were read from /proc. */
void switches_begin_early(struct switches *switches, uint64_t now);
/* Returns that table. */
struct earlywaits *switches_early(struct switches *switches);

/* Follows the threads of that table, at most 1 s after the last call and after the records since then were taken. */
void switches_tick(struct switches *switches, uint64_t now);

/* Takes a record. The caller passes every record of switch rings except LOST, and every record of state rings. */
void switches_record(struct switches *switches, const struct ring_record *record);
/* Sets the period of a sample of CPU time in a wall-clock profile to the on-CPU time of its thread since the thread's
 * previous sample (oncpu.h), which is 0 if it is unknown. cgroup: id of its cgroup, 0 if unknown. Returns false for a
 * sample of a process that is left out. */
bool switches_weigh(struct switches *switches, struct ring_sample *sample, uint64_t cgroup);
/* Returns the on-CPU time in ns that samples have so far. */
uint64_t switches_oncpu_ns(const struct switches *switches);
/* Call it when records of processes were lost: threads of a wall-clock profile may have no FORK or EXIT record then
 * (offcpu_newcomers). */
void switches_newcomers(struct switches *switches);
/* Returns true if the callchain of an off-CPU sample is marked as one of the kernel (switches_options.marks). */
bool switches_is_unread(const uint64_t *ips, uint64_t nips);
/* Called from `emit`: counts the sample as one whose stack was not read, as its callchain is replaced by that of a
 * tenant over budget. */
void switches_drop_stack(struct switches *switches);
/* Returns true if the off-CPU times of process pid are recorded. */
bool switches_wanted(const struct switches *switches, uint32_t pid);
/* Leaves a process out of a recording, and those that it starts from now on, until they end (leftout.h): records of
 * them are ignored, the times of their threads end, and these do not count as those that never ran. */
void switches_leave_out(struct switches *switches, uint32_t pid);
/* Takes all processes back that are left out, before those are given that are left after lost records. */
void switches_leave_out_none(struct switches *switches);
/* Returns the state of off-CPU times; NULL if switches is NULL. */
struct offcpu *switches_offcpu(struct switches *switches);
/* Adds n to the number of lost records of switch rings. */
void switches_lost(struct switches *switches, uint64_t n);

/* As offcpu_mark_stale and offcpu_sure. If records later than ns were lost, call the first before further records are
 * taken from the rings, and the second after that. */
void switches_mark_stale(struct switches *switches, uint64_t ns);
void switches_sure(struct switches *switches);

/* Ends the threads whose EXIT records were lost. Call it after a thread scan. */
void switches_mend(struct switches *switches);

/* Ends a window at ns: emits off-CPU times up to ns. Returns the counts since the previous call. */
struct pj_offcpu switches_end(struct switches *switches, uint64_t ns);

#endif
