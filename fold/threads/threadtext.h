/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threadtext.h - the report of --thread-dump: the newest stack of each thread and its state at the end, as text.
 *
 * A thread that was off the CPU at the end of the window is "waiting" or "preempted": pjrecord writes a sample of it
 * with the time of the last ns of the window (PJ_ITEM_BORDER). Its wait is as long as the sample shows, or longer,
 * because the sample has only the part of the wait that is in the window. Any other thread is "running" if its newest
 * sample is at most THREADTEXT_RECENT_NS old and no records of context switches were lost; otherwise its state is
 * unknown. The report shows a thread's newest complete stack instead of its newest stack, unless the thread is waiting
 * or the complete stack is more than THREADTEXT_RECENT_NS older.
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
	/* Names of locations: frame[first[id]] to frame[first[id + 1] - 1] are the frames of location `id`, outermost
	 * first, as ids in stacks->frames. */
	const uint32_t *first, *frame;
	const struct stacks *stacks;
	/* Returns the module that is shown for a location. */
	struct str (*dso)(const struct addrspace *addrspace, const struct location *location);
	/* The threads to show, with or without a stack; NULL: all threads that have a stack. */
	const struct threadlist *list;
	/* border: time at which the window ended, in ns on the recording's clock; 0: unknown. last: time of the last
	 * record in ns. */
	uint64_t border, last;
	/* lost_switches: number of lost records of context switches. lost_records: number of lost records of processes.
	 * lost_samples: number of lost samples. */
	uint64_t lost_switches, lost_records, lost_samples;
	/* True if records or stacks of context switches are missing: only the states waiting and preempted are then
	 * certain. */
	bool uncertain;
	/* Value of threadstacks.over_budget. If true, only the states waiting and preempted are certain. */
	bool over_budget;
	/* True if the recording has samples of processes whose context switches it leaves out. A thread that no sample
	 * shows off the CPU then has an unknown state. */
	bool left_out;
};

/* Numbers of threads with a stack, by state, and number of threads without a stack. */
struct threadtext_counts {
	uint64_t running, waiting, preempted, unknown, without_stack;
};

/* The report of one recording. */
struct threadreport {
	/* The threads to show, with or without a stack, if `listed` is true; otherwise all threads that have a stack
	 * are shown. */
	struct threadlist list;
	bool listed;
	struct text text;
	struct threadtext_counts counts;
};

/* Appends the report to *text, and adds the numbers of threads to *counts. Bytes of names that a terminal forbids are
 * escaped (visible.h). */
void threadtext_write(const struct threadtext *threadtext, const struct threadstacks *threadstacks, struct text *text,
		      struct threadtext_counts *counts);

/* Returns the number of threads that have a stack. */
uint64_t threadtext_stacks(const struct threadtext_counts *counts);

void threadreport_free(struct threadreport *report);

/* Appends the counts as a sentence: "5 threads: 1 running, 4 waiting, 0 preempted". */
void threadtext_sentence(const struct threadtext_counts *counts, struct text *text);

#endif
