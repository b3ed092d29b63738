/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switches.h - times off the CPU in a recording: records out of its rings become samples such as the kernel makes.
 *
 * offcpu.h keeps the times. Here is what it need not know: whose are wanted, what a sample looks like, who lives. Where
 * nobody wants to know, the object is NULL, and all of this does nothing.
 */
#ifndef PJ_SWITCHES_H
#define PJ_SWITCHES_H

#include "record/offcpu/offcpu.h"
#include "record/processes/processes.h"

struct switches_options {
	uint64_t event; /* number of the one that blocked times are samples of; the next one is of preempted */
	uint64_t least_ns;
	bool cgroup; /* the kernel tells that of each switch */
	bool all;    /* who never ran can be counted: all who could have are known */
	struct processes *processes;
	bool (*wanted)(void *to, uint32_t pid);
	void (*emit)(void *to, const struct ring_sample *sample); /* valid during the call */
	void *to;
};

struct switches;

struct switches *switches_new(const struct switches_options *options);
void switches_free(struct switches *switches);
void switches_begin(struct switches *switches, uint64_t ns); /* what was before is left out */

/* Every record of a ring of switches but LOST, and of a ring of state. */
void switches_record(struct switches *switches, const struct ring_record *record);
void switches_lost(struct switches *switches, uint64_t n);

/* As of offcpu.h: before the rings are taken from, if something later than ns was lost; and behind that. */
void switches_mark_stale(struct switches *switches, uint64_t ns);
void switches_sure(struct switches *switches);

void switches_mend(struct switches *switches); /* ends of threads were lost */

/* A border: times up to there, and what is counted since the one before. */
struct pj_offcpu switches_end(struct switches *switches, uint64_t ns);

#endif
