/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switches.h - off-CPU samples of a recording, made from the records of its rings in the format of the kernel.
 *
 * offcpu.h computes the times. This module adds the choice of processes, the format of samples and the check which
 * threads live. All functions but switches_new accept NULL and then do nothing.
 */
#ifndef PJ_SWITCHES_H
#define PJ_SWITCHES_H

#include "record/offcpu/offcpu.h"
#include "record/processes/processes.h"

/* Options of a recording. Pointers must stay valid until switches_free. */
struct switches_options {
	uint64_t event; /* index of the event for samples of blocked time; event + 1 is that of preempted time */
	/* shorter times are counted, but are no samples */
	uint64_t least_ns;
	bool cgroup; /* samples of switches end with the cgroup */
	bool all;    /* all threads are known, so those that never ran are counted */
	struct processes *processes;
	/* returns true if off-CPU times of this process are recorded */
	bool (*wanted)(void *to, uint32_t pid);
	/* receives each sample, which is valid during the call */
	void (*emit)(void *to, const struct ring_sample *sample);
	void *to;
};

struct switches;

/* Returns the state of a recording, for use by one thread. Its times count from switches_begin on. */
struct switches *switches_new(const struct switches_options *options);
/* Frees the state. */
void switches_free(struct switches *switches);
/* Starts the recording at ns: time before it does not count. */
void switches_begin(struct switches *switches, uint64_t ns);

/* Takes every record of a ring of switches except LOST, and every record of a ring of state. */
void switches_record(struct switches *switches, const struct ring_record *record);
/* Counts n lost records of a ring of switches. */
void switches_lost(struct switches *switches, uint64_t n);

/* As in offcpu.h. Call the first before records are taken from the rings if records later than ns were lost, and the
 * second after that. */
void switches_mark_stale(struct switches *switches, uint64_t ns);
void switches_sure(struct switches *switches);

/* Ends the threads whose EXIT records were lost, after a thread scan. */
void switches_mend(struct switches *switches);

/* Ends a window at ns: emits the times up to ns and returns the counts since the previous end. */
struct pj_offcpu switches_end(struct switches *switches, uint64_t ns);

#endif
