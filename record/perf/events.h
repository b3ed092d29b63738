/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - parses a list of perf's event names into attributes for perf_event_open.
 *
 * Clocks and hardware counters are sampled by frequency. Counted events (page faults, switches, tracepoints) give
 * one sample for each occurrence, or for each Nth one.
 */
#ifndef PJ_EVENTS_H
#define PJ_EVENTS_H

#include "record/perf/chunk.h"

/* Options that apply to all events of the list. */
struct events_options {
	/* Hz, for events that are sampled by frequency */
	uint64_t frequency;
	/* for counted events: a sample for each Nth occurrence; 0 is 1 */
	uint64_t period;
	/* children of a thread inherit its events; not for CPU-wide events */
	bool inherit;
	/* events start when the process calls exec */
	bool on_exec;
	/* idle CPUs are sampled, too */
	bool idle;
	/* size of a ring; it is half full when the recorder is woken up */
	size_t ring_bytes;
	/* add the two events of off-CPU times */
	bool offcpu;
};

/* The result; events_free frees all of it. */
struct events {
	struct chunk_event *event;
	size_t n;
	/* "auto" became cpu-clock, because cycles cannot be counted here */
	bool by_clock;
	/* index from 1 of offcpu-time, which offcpu-time-preempted follows; 0 without off-CPU times */
	uint64_t offcpu;
	struct tracepoint *tracepoint;
	size_t ntracepoints;
	/* TRACING_DATA section: formats of the tracepoints' fields; empty if there are no tracepoints */
	struct text tracing;
};

/* Parses a list such as "cycles,page-faults:u,block:*". "auto" is cycles if the host can count them, else cpu-clock.
 * Exits with a usage message on an unknown name, and with a hint if tracepoints cannot be read. */
void events_parse(struct events *events, const char *list, const struct events_options *options);
/* Frees the arrays and names and zeroes the struct. */
void events_free(struct events *events);

/* Returns true if this host can count the hardware event, after opening it for the own process. Returns false with
 * errno if not. */
bool events_try(const struct perf_event_attr *attr);

#endif
