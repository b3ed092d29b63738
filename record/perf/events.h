/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - the names of events, as perf calls them, and what the kernel is asked for.
 *
 * Clocks and hardware counters are sampled by frequency; what is counted (page faults, switches, tracepoints) is a
 * sample each, or every so many.
 */
#ifndef PJ_EVENTS_H
#define PJ_EVENTS_H

#include "record/perf/chunk.h"

struct events_options {
	uint64_t frequency; /* Hz */
	uint64_t period;    /* of events that are counted; 0: each one */
	bool inherit;       /* children of a thread too: not for events on CPUs */
	bool on_exec;
	bool idle;
	size_t ring_bytes;
	bool offcpu; /* times off the CPU, too */
};

struct events {
	struct chunk_event *event;
	size_t n;
	bool by_clock;   /* "auto" became cpu-clock, since there are no cycles to count */
	uint64_t offcpu; /* number, from 1, of offcpu-time; offcpu-time-preempted is the next; 0: not asked for */
	struct tracepoint *tracepoint;
	size_t ntracepoints;
	struct text tracing; /* what readers need to print the fields of tracepoints; empty: there are none */
};

/* "cycles,page-faults:u,block:*"; "auto" is cycles where there is a PMU, else cpu-clock. Dies with a usage message on a
 * name that is none, and with a hint when tracepoints cannot be had. */
void events_parse(struct events *events, const char *list, const struct events_options *options);
void events_free(struct events *events);

/* Is it a hardware event that this machine can count? The kernel is asked; false with errno. */
bool events_try(const struct perf_event_attr *attr);

#endif
