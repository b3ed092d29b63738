/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openwindow.h - the open window: writes its records and counts its report.
 *
 * session.h takes records out of the rings and decides when a window ends; everything that goes into the file of a
 * window goes through this module. Before it writes a sample it writes the records that readers need to name it,
 * within the budget of the tenant (budgets.h). Off-CPU times that are over budget are summed by thread (overtimes.h)
 * until openwindow_flush.
 *
 * Order of calls for each window: openwindow_begin, then samples, losses and flushes in order of time, then
 * openwindow_end. The session fills in the first group of members before the first call. One thread uses the struct.
 */
#ifndef PJ_OPENWINDOW_H
#define PJ_OPENWINDOW_H

#include "record/perf/eventattrs.h"
#include "record/processes/budgets.h"
#include "record/unwind/unwinder.h"
#include "record/processes/idle.h"
#include "record/output.h"
#include "record/offcpu/overtimes.h"
#include "record/session.h"
#include "record/processes/state.h"
#include "record/offcpu/switches.h"

struct openwindow {
	/* Members for the whole recording; the session sets and owns them. */
	const struct session_options *o;
	const struct eventattrs *attrs;
	struct session_totals *totals;
	struct chunk_facts facts;
	/* the symbol saver; NULL: the recording has none */
	struct symsaver *keep;
	struct kernel *kernel;
	struct cgroups *cgroups;
	struct budgets *budgets;
	struct state *state;
	/* state of off-CPU times; NULL without --off-cpu */
	struct switches *switches;
	/* stacks that are read while threads are off the CPU; NULL: none are */
	struct waitstacks *waits;
	/* the unwinder; NULL if the kernel unwinds all stacks, by frame pointers */
	struct unwinder *unwinder;

	/* Members for the open window. Times are in ns of CLOCK_MONOTONIC; serial is the number of the window, from
	 * 0. */
	struct output out;
	struct window_report report;
	uint64_t begin, end, serial;
	/* times of the first and the last sample of the window; 0: no sample */
	uint64_t first, last;
	struct idle idle;
	/* sums of off-CPU times by thread; NULL before the first sum */
	struct overtimes *overtimes;
	/* buffers for records that are being composed */
	struct text text, brief;

	/* Counts at the end of the previous window, from which the window's counts are computed. */
	struct symsaver_counts saved;
	struct helper_counts helpers, jvm_helpers, interpreter_helpers, wait_helpers;
	struct unread_waits unread_waits;
	/* number of windows that ended, including dropped ones */
	uint64_t done;
};

/* Opens the file of the window [begin, end), in ns of CLOCK_MONOTONIC, and writes the records of the kernel. If the
 * file cannot be created, nothing is written, but the window is counted. */
void openwindow_begin(struct openwindow *openwindow, uint64_t begin, uint64_t end);
/* Ends the window at `end`, in ns of CLOCK_MONOTONIC: writes the sums of off-CPU times, the items of the end and the
 * build-ids, completes the file, and adds the report to the session's totals. */
void openwindow_end(struct openwindow *openwindow, uint64_t end);
/* Frees the buffers of the window. The file and the members that the session owns remain. */
void openwindow_free(struct openwindow *openwindow);

/* Writes a sample, preceded by the names and mappings that the file lacks. Samples come in order of time.
 * sample->event is the index of the event from 1, not the id of the kernel. */
void openwindow_sample(struct openwindow *openwindow, const struct ring_sample *sample);

/* Writes a LOST_SAMPLES record for n samples that the kernel dropped because a ring was full. */
void openwindow_lost_samples(struct openwindow *openwindow, uint64_t n, uint64_t ns, uint32_t cpu);

/* Writes the sums of off-CPU times and flushes the file, so that all samples up to now are readable. */
void openwindow_flush(struct openwindow *openwindow);

/* Returns the index of the event that carries process state: the one after all sampled events. */
uint64_t openwindow_state_event(const struct openwindow *openwindow);

#endif
