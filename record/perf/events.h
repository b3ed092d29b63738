/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - parses a list of perf's event names into attributes for perf_event_open.
 *
 * Clocks and hardware counters are sampled by frequency. Other events (page faults, switches, tracepoints, uprobes)
 * have a fixed period: one sample for each occurrence, or for each Nth occurrence. java:alloc is such an event, too: a
 * uprobe in each libjvm.so, whose samples the recorder weights by bytes (record/java/allocations.h).
 */
#ifndef PJ_EVENTS_H
#define PJ_EVENTS_H

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
	/* target processes: a uprobe whose file has no path is searched in their mappings */
	const uint32_t *pid;
	size_t npids;
	/* true if the target is a list of cgroups, whose processes are unknown; not for java:alloc */
	bool cgroups;
	/* true if samples have user registers and stack copies, which java:alloc needs */
	bool registers;
	/* flag that a signal handler sets, which ends the search for a function; must not be NULL if the
	 * list may have uprobes */
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

/* Parses a list such as "cycles,page-faults:u,block:*". "auto" is cycles if the host can count them, else cpu-clock.
 * Exits with a usage message on an unknown name, and with a hint if tracepoints cannot be read. */
void events_parse(struct events *events, const char *list, const struct events_options *options);
/* Exits with a usage message if an event of the list has an unknown name. Opens no event, so a tool can call it before
 * it starts any work. Tracepoints are checked if pj may read their names. */
void events_check(const char *list);
/* Appends the names of all events of this host, one per line: auto, clocks, counters, and tracepoints if pj may read
 * them. */
void events_list(struct text *text);
/* Frees the arrays and names and zeroes the struct. */
void events_free(struct events *events);

/* Opens a hardware event for this process as a test. Returns true if the host can count the event; else false with
 * errno. */
bool events_try(const struct perf_event_attr *attr);

#endif
