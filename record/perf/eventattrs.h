/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eventattrs.h - attributes of all events of a recording: as the kernel receives them, and as its files show them.
 *
 * The sampled events are followed by one event that carries process state. With off-CPU times there is a further
 * one, which reports threads that leave CPUs and return. Files use indexes from 1 in place of the kernel's ids, and
 * show the attributes as if the kernel had produced the callchains that the recorder unwinds.
 *
 * Order of calls: eventattrs_make, then open the events, eventattrs_opened, eventattrs_free.
 */
#ifndef PJ_EVENTATTRS_H
#define PJ_EVENTATTRS_H

#include "record/perf/chunk.h"

struct eventattrs_options {
	/* sampled events */
	const struct chunk_event *event;
	size_t nevents;
	/* as in struct session_options: index of the off-CPU event */
	uint64_t offcpu;
	/* events are opened for threads, and their children inherit them */
	bool children;
	/* events start when the thread calls exec */
	bool on_exec;
	/* bytes of the user stack in a sample; 0 for no copy */
	uint32_t stack_bytes;
	/* as in struct session_options: callchains by frame pointers, too */
	bool both;
};

/* Owned by the caller; the arrays are from malloc and have o.nevents + 1 entries. */
struct eventattrs {
	struct eventattrs_options o;
	struct chunk_event
		/* the sampled events and, after them, the state event; opening them may reduce what they request */
		*event;
	/* the same events, as files describe them */
	struct chunk_event *reported;
	/* the event that reports context switches */
	struct perf_event_attr switches;
};

/* Returns the number of samples with a stack copy in a second on one CPU, if copies are requested; 0 if no event has
 * one. */
uint64_t eventattrs_copies(const struct eventattrs_options *options);

/* Requests user registers and stack_bytes of the user stack with each sample. `both` requests the callchain by frame
 * pointers, too, which continues where the copy ends and is all that 32-bit code has. */
void eventattrs_request_stack(struct perf_event_attr *attr, uint32_t stack_bytes, bool both);

/* Makes the attributes for opening. The strings of options->event must live as long as eventattrs. */
void eventattrs_make(struct eventattrs *eventattrs, const struct eventattrs_options *options);

/* Completes the attributes after the events were opened: the kernel may support less than was requested. */
void eventattrs_opened(struct eventattrs *eventattrs);
/* Frees the arrays and zeroes the struct. */
void eventattrs_free(struct eventattrs *eventattrs);

/* Returns true if every sample contains its cgroup. Call it after the events were opened. */
bool eventattrs_cgroups(const struct eventattrs *eventattrs);

#endif
