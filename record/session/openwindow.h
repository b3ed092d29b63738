/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openwindow.h - the open window: writes the records of its file, and counts for its report.
 *
 * session.h takes records out of the rings and decides when a window ends. Everything that goes into the file of a
 * window goes through this module. Before a sample, it writes the records by which readers name the sample's process
 * and frames, within the budget of the tenant (budgets.h). Off-CPU times of a tenant over budget are summed for each
 * thread (overtimes.h); openwindow_flush and openwindow_end write the sums.
 *
 * Order of calls for each window: openwindow_begin, then samples, losses and flushes in order of time, then
 * openwindow_end. The session sets the first group of members before the first call. One thread uses the struct.
 */
#ifndef PJ_OPENWINDOW_H
#define PJ_OPENWINDOW_H

#include "record/perf/eventattrs.h"
#include "record/processes/budgets.h"
#include "record/unwind/unwinder.h"
#include "record/processes/idle.h"
#include "record/session/output.h"
#include "record/offcpu/overtimes.h"
#include "record/session/session.h"
#include "record/processes/state.h"
#include "record/offcpu/switches.h"

struct openwindow {
	/* Members that do not change during the recording; the session sets and owns them. */
	const struct session_options *o;
	const struct eventattrs *attrs;
	struct session_totals *totals;
	struct chunk_facts facts;
	/* the symbol saver; NULL: no symbol saver runs */
	struct symsaver *keep;
	struct kernel *kernel;
	struct cgroups *cgroups;
	struct budgets *budgets;
	struct state *state;
	/* state of the off-CPU times; NULL: they are not recorded */
	struct switches *switches;
	/* stacks that are read while threads are off the CPU; NULL: no such stack is read */
	struct waitstacks *waits;
	/* the unwinder; NULL: the kernel unwinds all stacks, by frame pointers */
	struct unwinder *unwinder;

	/* Members for the open window. begin, end: its times in ns of CLOCK_MONOTONIC. serial: number of the window,
	 * from 0. */
	struct output out;
	struct window_report report;
	uint64_t begin, end, serial;
	/* times in ns of the first and the last sample of the window; 0: no sample yet */
	uint64_t first, last;
	struct idle idle;
	/* sums of off-CPU times of threads over budget; NULL: no time was summed yet */
	struct overtimes *overtimes;
	/* buffers in which records are composed */
	struct text text, brief;

	/* Counters at the end of the previous window: a window's count is the difference from these. */
	struct symsaver_counts saved;
	struct helper_counts helpers, jvm_helpers, interpreter_helpers, wait_helpers;
	struct unread_waits unread_waits;
	/* number of windows that have ended, including dropped windows */
	uint64_t done;
};

/* Opens the file of the window [begin, end), in ns of CLOCK_MONOTONIC, and writes the records for the kernel's own
 * code: its MMAP record and a KSYMBOL record for each entry of the list of generated code. If the file cannot be
 * created, nothing is written for this window, but the window is counted. */
void openwindow_begin(struct openwindow *openwindow, uint64_t begin, uint64_t end);
/* Ends the window at `end`, in ns of CLOCK_MONOTONIC: writes the sums of off-CPU times, the items at the end of a file,
 * and the build-ids. Then completes the file, and adds the report to the session's totals. */
void openwindow_end(struct openwindow *openwindow, uint64_t end);
/* Frees the buffers. Does not close the file or free members that the session owns. */
void openwindow_free(struct openwindow *openwindow);

/* Writes a sample, and before it those records with the names and mappings of its process that the file lacks. The
 * caller passes samples in order of time. sample->event is the index of the event, from 1, not the kernel's id. */
void openwindow_sample(struct openwindow *openwindow, const struct ring_sample *sample);

/* Writes a LOST_SAMPLES record for n samples that the kernel dropped because a ring was full. ns, cpu: time and CPU of
 * the record. */
void openwindow_lost_samples(struct openwindow *openwindow, uint64_t n, uint64_t ns, uint32_t cpu);

/* Writes the sums of off-CPU times and flushes the file, so that other processes can read all samples up to now. */
void openwindow_flush(struct openwindow *openwindow);

/* Returns the index, from 1, of the event whose records carry process state; it is the one after all sampled events. */
uint64_t openwindow_state_event(const struct openwindow *openwindow);

#endif
