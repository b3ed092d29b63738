/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - parses a list of perf's event names into attributes for perf_event_open.
 *
 * Clocks and hardware counters are sampled by frequency. Counted events (page faults, switches, tracepoints, uprobes)
 * give one sample for each occurrence, or for each Nth one.
 */
#ifndef PJ_EVENTS_H
#define PJ_EVENTS_H

#include "record/perf/chunk.h"
#include "record/perf/uprobes.h"

/* Options that apply to all events of the list. */
struct events_options {
	/* sampling frequency in Hz, for clocks and hardware counters */
	uint64_t frequency;
	/* for counted events: take one sample for each Nth occurrence; 0 means each occurrence */
	uint64_t period;
	/* threads that a thread starts inherit its events; not for CPU-wide events */
	bool inherit;
	/* events start when the process calls exec */
	bool on_exec;
	/* true: idle CPUs are sampled, too */
	bool idle;
	/* true: add the two events of off-CPU times */
	bool offcpu;
	/* true, with offcpu: name them and the event, which samples CPU time, as those of a wall-clock profile */
	bool wall;
	/* processes whose mapped files uprobes name without a path */
	const uint32_t *pid;
	size_t npids;
	/* set by a handler of signals, ends the search for a function; not NULL if the list may have uprobes */
	const volatile sig_atomic_t *stop;
};

/* Events of a list. events_free frees all of it. */
struct events {
	struct chunk_event *event;
	size_t n;
	/* true if "auto" became cpu-clock, because this host cannot count cycles */
	bool by_clock;
	/* index from 1 of the event offcpu-time; the next one is offcpu-time-preempted; 0 without off-CPU times. In a
	 * wall-clock profile these are wall-time-blocked and wall-time-preempted, and the next one is
	 * wall-time-unsampled. */
	uint64_t offcpu;
	struct tracepoint *tracepoint;
	size_t ntracepoints;
	/* places of the uprobes; the attributes of their events have pointers to the paths */
	struct uprobe *uprobe;
	size_t nuprobes;
	/* content of the TRACING_DATA section: formats of the tracepoints' fields; empty if there are no tracepoints */
	struct text tracing;
};

/* Parses a list such as "cycles,page-faults:u,block:*". "auto" is cycles if the host can count them, else cpu-clock.
 * Exits with a usage message on an unknown name, and with a hint if tracepoints cannot be read. */
void events_parse(struct events *events, const char *list, const struct events_options *options);
/* Appends the names of all events of this host, one a line: auto, clocks and counters, tracepoints if they can be
 * read. */
void events_list(struct text *text);
/* Frees the arrays and names and zeroes the struct. */
void events_free(struct events *events);

/* Tries to count a hardware event in this process. Returns true if the host can count it, else false with errno. */
bool events_try(const struct perf_event_attr *attr);

#endif
