/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocevents.h - adds the events of java:alloc: two uprobes for each libjvm.so that the target processes, or all
 * processes, have mapped.
 *
 * HotSpot calls one function for each new TLAB and one for each allocation outside of TLABs; each call is a sample,
 * which the recorder weights by its bytes (record/java/allocations.h). A kernel that refuses one uprobe would end the
 * recording, and anybody can map a file that is named libjvm.so. So each uprobe is tried before it is added, and files
 * that fail are left out with a warning.
 */
#ifndef PJ_ALLOCEVENTS_H
#define PJ_ALLOCEVENTS_H

#include "record/perf/eventlist.h"

/* Adds the events of `spec`, java:alloc as the user wrote it. Exits with a message if the options exclude allocations,
 * if no libjvm.so is found, or if none can be probed. */
void allocevents_add(struct events *events, struct str spec, const struct events_options *options);

#endif
