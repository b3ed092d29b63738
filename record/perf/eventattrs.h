/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eventattrs.h - attributes of all events of a recording: as the kernel receives them, and as the files of the
 * recording show them.
 *
 * One event that carries process state follows the sampled events. With off-CPU times there is one more event, which
 * reports when threads leave CPUs and return. The files use indexes from 1 instead of the kernel's event ids. The
 * attributes in the files do not request stack copies: they describe the samples as if the kernel had written the
 * callchains that the recorder unwound.
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
	/* index of the first event for off-CPU times, counted from 1; 0 without off-CPU times (struct
	 * session_options) */
	uint64_t offcpu;
	/* number of events, from `offcpu` on, whose samples the recorder makes itself */
	size_t made;
	/* true if threads and processes that the target threads create inherit the events (attr.inherit); not for
	 * CPU-wide events */
	bool children;
	/* true if events start when the thread calls exec */
	bool on_exec;
	/* size of the stack copy in each sample, in bytes; 0 for no copy */
	uint32_t stack_bytes;
	/* true if samples with a stack copy have the kernel's frame-pointer callchain, too (struct session_options) */
	bool both;
};

/* Attributes of one recording. The caller owns the struct; eventattrs_free frees its arrays, which have o.nevents + 1
 * entries. */
struct eventattrs {
	struct eventattrs_options o;
	/* sampled events, followed by the state event; opening the events may remove features from their attributes */
	struct chunk_event *event;
	/* copies of the elements of `event`, with the attributes that the files describe */
	struct chunk_event *reported;
	/* attributes of the event that reports context switches */
	struct perf_event_attr switches;
};

/* Returns the expected number of stack copies per second on one CPU: the highest frequency of an event whose samples
 * have stack copies. An event with a fixed period is assumed to have 1,000 samples per second. Returns 0 if no samples
 * have stack copies. */
uint64_t eventattrs_copies(const struct eventattrs_options *options);

/* Requests user registers and stack_bytes of the user stack with each sample. With `both`, also requests the
 * frame-pointer callchain: it continues the stack where the stack copy ends, and is the only stack of 32-bit code. */
void eventattrs_request_stack(struct perf_event_attr *attr, uint32_t stack_bytes, bool both);

/* Fills *eventattrs with the attributes with which the events are to be opened. The strings of options->event must live
 * as long as eventattrs. */
void eventattrs_make(struct eventattrs *eventattrs, const struct eventattrs_options *options);

/* Completes the attributes for files and sets the ids of the events. The caller calls it after the events were opened,
 * because the kernel may support less than was requested. */
void eventattrs_opened(struct eventattrs *eventattrs);
/* Returns true if off-CPU times are recorded and the context-switch event has user registers, so that stacks can be
 * read while threads are off the CPU. The caller calls it after the events were opened. */
bool eventattrs_waits(const struct eventattrs *eventattrs);
/* Frees the arrays of *eventattrs and zeroes the struct. */
void eventattrs_free(struct eventattrs *eventattrs);

/* Returns true if samples of all events contain their cgroup id. The caller calls it after the events were opened. */
bool eventattrs_cgroups(const struct eventattrs *eventattrs);

#endif
