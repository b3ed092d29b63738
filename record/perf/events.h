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

#include "record/perf/eventlist.h"

/* Parses a list such as "cycles,page-faults:u,block:*". "auto" is cycles if the host can count them, else cpu-clock.
 * Exits with a usage message on an unknown name, and with a hint if tracepoints cannot be read. */
void events_parse(struct events *events, const char *list, const struct events_options *options);
/* Exits with a usage message if an event of the list has an unknown name. Opens no event, so a tool can call it before
 * it starts any work. Tracepoints are checked if pj may read their names. */
void events_check(const char *list);
/* Appends the names of all events of this host, one per line: auto, clocks, counters, and tracepoints if pj may read
 * them. */
void events_list(struct text *text);

/* Opens a hardware event for this process as a test. Returns true if the host can count the event; else false with
 * errno. */
bool events_try(const struct perf_event_attr *attr);

#endif
