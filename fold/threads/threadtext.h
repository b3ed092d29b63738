/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threadtext.h - the report of --thread-dump: the newest stack of each thread and its state at the end, as text.
 *
 * A thread that was off the CPU at the end of the window is "waiting" or "preempted" for at least the time within the
 * window; pjrecord marks it by the time of its sample (PJ_ITEM_BORDER). Another thread is "running" if its newest
 * sample is of the last THREADTEXT_RECENT_NS and no records of context switches were lost; otherwise its state is
 * unknown. A thread that is not waiting has its newest complete stack, if that is at most THREADTEXT_RECENT_NS older
 * than its newest one.
 */
#ifndef PJ_THREADTEXT_H
#define PJ_THREADTEXT_H

#include "common/stacks.h"
#include "common/text.h"
#include "fold/process/addrspace.h"
#include "fold/process/locations.h"
#include "fold/threads/threadlist.h"
#include "fold/threads/threadstacks.h"

#define THREADTEXT_RECENT_NS UINT64_C(100000000)

/* The recording, after its locations are named (resolve.h). */
struct threadtext {
	const struct addrspace *addrspace;
	const struct locations *locations;
	/* Names: frame[first[location]] to frame[first[location + 1] - 1] are the frames of a location, outermost
	 * first, as ids of the frames of `stacks`. */
	const uint32_t *first, *frame;
	const struct stacks *stacks;
	/* Returns the module that is shown for a location. */
	struct str (*dso)(const struct addrspace *addrspace, const struct location *location);
	/* The threads to show, also those without a stack; NULL: those that have one. */
	const struct threadlist *list;
	/* border: time at which the window ended in ns; 0: unknown. last: time of the last record. */
	uint64_t border, last;
	/* Numbers of lost records of context switches and of processes, and of lost samples. */
	uint64_t lost_switches, lost_records, lost_samples;
	/* Records or stacks of context switches are missing, so that states other than waiting are not certain. */
	bool uncertain;
	/* threadstacks.over_budget: then only these states are certain, too. */
	bool over_budget;
	/* The recording has samples of processes whose context switches it leaves out: a thread that no sample shows
	 * off the CPU has an unknown state. */
	bool left_out;
};

/* Numbers of threads by state. */
struct threadtext_counts {
	uint64_t running, waiting, preempted, unknown, without_stack;
};

/* The report of one recording. */
struct threadreport {
	/* The threads to show, also those without a stack, if `listed` is set; otherwise those that have a stack. */
	struct threadlist list;
	bool listed;
	struct text text;
	struct threadtext_counts counts;
};

/* Appends the text and adds up the threads in *counts. Bytes of names that a terminal forbids are escaped
 * (visible.h). */
void threadtext_write(const struct threadtext *threadtext, const struct threadstacks *threadstacks, struct text *text,
		      struct threadtext_counts *counts);

/* Returns the number of threads that have a stack. */
uint64_t threadtext_stacks(const struct threadtext_counts *counts);

void threadreport_free(struct threadreport *report);

/* Appends the counts as a sentence: "5 threads: 1 running, 4 waiting, 0 preempted". */
void threadtext_sentence(const struct threadtext_counts *counts, struct text *text);

#endif
