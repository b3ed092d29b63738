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

struct switches_options {
	uint64_t event; /* event of samples of blocked time; event + 1 is that of preempted time */
	uint64_t least_ns;
	bool cgroup; /* samples of switches end with the cgroup */
	bool all;    /* all threads are known, so those that never ran are counted */
	struct processes *processes;
	bool (*wanted)(void *to, uint32_t pid);
	void (*emit)(void *to, const struct ring_sample *sample); /* valid during the call */
	void *to;
};

struct switches;

struct switches *switches_new(const struct switches_options *options);
void switches_free(struct switches *switches);
void switches_begin(struct switches *switches, uint64_t ns); /* time before ns does not count */

/* Every record of a ring of switches but LOST, and of a ring of state. */
void switches_record(struct switches *switches, const struct ring_record *record);
void switches_lost(struct switches *switches, uint64_t n);

/* As in offcpu.h. Call the first before records are taken from the rings if records later than ns were lost, and the
 * second after that. */
void switches_mark_stale(struct switches *switches, uint64_t ns);
void switches_sure(struct switches *switches);

void switches_mend(struct switches *switches); /* ends the threads whose EXIT records were lost */

/* Ends a window at ns: emits the times up to ns and returns the counts since the previous end. */
struct pj_offcpu switches_end(struct switches *switches, uint64_t ns);

#endif
