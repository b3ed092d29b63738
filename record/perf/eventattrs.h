/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eventattrs.h - what the events of a recording are asked for, and what its files are told of them.
 *
 * To the events that are sampled come one of our own, which carries the state of processes, and, for times off the CPU,
 * one that tells of threads that leave CPUs and come back. A file knows them by our numbers, and as if the kernel had
 * made the callchains that are made here.
 */
#ifndef PJ_EVENTATTRS_H
#define PJ_EVENTATTRS_H

#include "record/perf/chunk.h"

struct eventattrs_options {
	const struct chunk_event *event; /* what is sampled */
	size_t nevents;
	uint64_t offcpu;      /* as of session_options */
	bool children;        /* of threads that are opened: events are inherited, */
	bool on_exec;         /* and begin with exec */
	uint32_t stack_bytes; /* of a stack that are copied; 0: none */
	bool both;            /* as of session_options */
};

struct eventattrs {
	struct eventattrs_options o;
	struct chunk_event
		*event; /* what is sampled, and the event of the state behind it; whoever opens them may ask for less */
	struct chunk_event *reported; /* the same, as files have them */
	struct perf_event_attr switches;
};

/* Samples with a copy of the stack, a second and CPU, if copies are asked for; 0: none of the events has any. */
uint64_t eventattrs_copies(const struct eventattrs_options *options);

/* Requests user registers and stack_bytes of the user stack with each sample. `both` requests the callchain by frame
 * pointers, too, which continues where the copy ends and is all that 32-bit code has. */
void eventattrs_request_stack(struct perf_event_attr *attr, uint32_t stack_bytes, bool both);

void eventattrs_make(struct eventattrs *eventattrs, const struct eventattrs_options *options);

/* To be called when they are open: now it is known what they tell. */
void eventattrs_opened(struct eventattrs *eventattrs);
void eventattrs_free(struct eventattrs *eventattrs);

/* Does the kernel tell the cgroup of every sample? */
bool eventattrs_cgroups(const struct eventattrs *eventattrs);

#endif
