/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eventlist.h - the list of events of a recording, to which parsers add one event after another with the attributes
 * that all events share.
 *
 * Events of each kind have a parser (events.h, allocevents.h). Each parser starts from events_common_attr, so that all
 * events of a recording have one clock, one inheritance and one layout of their samples.
 */
#ifndef PJ_EVENTLIST_H
#define PJ_EVENTLIST_H

#include "record/perf/chunk.h"
#include "record/probes/uprobes.h"

/* Options that apply to all events of the list. */
struct events_options {
	/* sampling frequency of clocks and hardware counters in Hz */
	uint64_t frequency;
	/* number of occurrences per sample for events with a fixed period; 0 means 1 */
	uint64_t period;
	/* true if threads that a thread starts inherit its events; not for CPU-wide events */
	bool inherit;
	/* true if events start when the process calls exec */
	bool on_exec;
	/* true if idle CPUs are sampled, too */
	bool idle;
	/* true if the events of off-CPU samples are added */
	bool offcpu;
	/* with `offcpu`: true if the off-CPU events, and the event that samples CPU time, get the names of a wall-clock
	 * profile */
	bool wall;
	/* target processes: if a uprobe names its file without a path, the file is searched in their mappings */
	const uint32_t *pid;
	size_t npids;
	/* true if the targets are cgroups: their processes are unknown, so java:alloc is refused */
	bool cgroups;
	/* true if samples have user registers and stack copies, which java:alloc needs */
	bool registers;
	/* flag that a signal handler sets to end the search for a function; must not be NULL if the list may have
	 * uprobes */
	const volatile sig_atomic_t *stop;
};

/* Events of a list. The caller frees them with events_free. */
struct events {
	struct chunk_event *event;
	size_t n;
	/* true if "auto" became cpu-clock because this host cannot count cycles; false if it became cycles, or if the
	 * list has no "auto" */
	bool by_clock;
	/* Index of the event offcpu-time, counted from 1; 0 without off-CPU times. The next event is
	 * offcpu-time-preempted. In a wall-clock profile, the events from this index on are wall-time-blocked,
	 * wall-time-preempted and wall-time-unsampled. */
	uint64_t offcpu;
	struct tracepoint *tracepoint;
	size_t ntracepoints;
	/* breakpoints of the uprobes; the attributes of their events point to the paths */
	struct uprobe *uprobe;
	size_t nuprobes;
	/* content of the TRACING_DATA section: formats of the tracepoints' fields; empty if there are no tracepoints */
	struct text tracing;
};

/* Type of an event, and how it is sampled. */
struct event_kind {
	/* as in perf_event_attr */
	uint32_t type;
	uint64_t config;
	/* true: sampled at a frequency; false: with a fixed period, by default at each occurrence */
	bool ticks;
};

/* Returns the attribute of an event of this kind, disabled, with the options applied. */
struct perf_event_attr events_common_attr(const struct event_kind *kind, const struct events_options *options);

/* Appends an event with a copy of its name. */
void events_add_event(struct events *events, const struct perf_event_attr *attr, struct str name);

/* Exits with a usage message: the event `spec` needs uprobes, and the kernel has no PMU for them (uprobes_type). */
NORETURN void events_die_of_probes(struct str spec);

/* Frees the arrays and names and zeroes the struct. */
void events_free(struct events *events);

#endif
