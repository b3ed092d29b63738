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
	/* events that are sampled */
	const struct chunk_event *event;
	size_t nevents;
	/* index from 1 of the event for off-CPU times; 0 without off-CPU times (struct session_options) */
	uint64_t offcpu;
	/* number of the events that the recorder makes, from that one on */
	size_t made;
	/* true: threads and processes that the target threads create inherit the events (attr.inherit); for events of
	 * threads, not of CPUs */
	bool children;
	/* true if events start when the thread calls exec */
	bool on_exec;
	/* size of the stack copy in each sample, in bytes; 0 for no copy */
	uint32_t stack_bytes;
	/* samples with a stack copy have a frame-pointer callchain, too (struct session_options) */
	bool both;
};

/* Attributes of one recording. The caller owns the struct; its arrays are from malloc and have o.nevents + 1
 * entries. */
struct eventattrs {
	struct eventattrs_options o;
	/* the events that are sampled and, after them, the state event; opening them may reduce what they request */
	struct chunk_event *event;
	/* the same events, as the files describe them */
	struct chunk_event *reported;
	/* attributes of the event that reports context switches */
	struct perf_event_attr switches;
};

/* Returns the sampling rate of stack copies on one CPU, per second: the highest rate of an event whose samples have
 * copies, where 1,000 are assumed for counted events. Returns 0 if no samples have copies. */
uint64_t eventattrs_copies(const struct eventattrs_options *options);

/* Requests user registers and stack_bytes of the user stack with each sample. `both` also requests the frame-pointer
 * callchain. That continues where the stack copy ends, and is the only stack of 32-bit code. */
void eventattrs_request_stack(struct perf_event_attr *attr, uint32_t stack_bytes, bool both);

/* Fills *eventattrs for opening the events. The strings of options->event must live as long as eventattrs. */
void eventattrs_make(struct eventattrs *eventattrs, const struct eventattrs_options *options);

/* Completes the attributes for files, and gives events their ids, after the events were opened: the kernel may support
 * less than was requested. */
void eventattrs_opened(struct eventattrs *eventattrs);
/* Returns true if the event of context switches has user registers, so that stacks can be read while threads are off
 * the CPU. Call it after the events were opened. */
bool eventattrs_waits(const struct eventattrs *eventattrs);
/* Frees the arrays of *eventattrs and zeroes the struct. */
void eventattrs_free(struct eventattrs *eventattrs);

/* Returns true if samples of all events contain their cgroup id. Call it after the events were opened. */
bool eventattrs_cgroups(const struct eventattrs *eventattrs);

#endif
