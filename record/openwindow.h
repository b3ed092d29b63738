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
	/* Valid as long as the recording; owned by the session. */
	const struct session_options *o;
	const struct eventattrs *attrs;
	struct session_totals *totals;
	struct chunk_facts facts;
	/* NULL if the recording has no symbol saver */
	struct symsaver *keep;
	struct kernel *kernel;
	struct cgroups *cgroups;
	struct budgets *budgets;
	struct state *state;
	/* NULL without --off-cpu */
	struct switches *switches;
	/* NULL if the kernel unwinds all stacks, by frame pointers */
	struct unwinder *unwinder;

	/* Valid for the open window. Times are ns of CLOCK_MONOTONIC; serial counts windows from 0. */
	struct output out;
	struct window_report report;
	uint64_t begin, end, serial;
	/* times of the first and the last sample; 0 if there is none */
	uint64_t first, last;
	struct idle idle;
	/* created by the first sum; NULL before */
	struct overtimes *overtimes;
	/* buffers for records that are being composed */
	struct text text, brief;

	/* Totals at the end of the previous window; the report of a window holds the differences. */
	struct symsaver_counts saved;
	struct helper_counts helpers, jvm_helpers;
	/* number of windows that ended, including dropped ones */
	uint64_t done;
};

/* Opens the file of the window [begin, end) and writes the records of the kernel. If the file cannot be created, the
 * window is counted, but nothing is written. */
void openwindow_begin(struct openwindow *openwindow, uint64_t begin, uint64_t end);
/* Ends the window at `end`: writes the sums, the items of its end and its build-ids, completes the file, and adds
 * the report to the session's totals. */
void openwindow_end(struct openwindow *openwindow, uint64_t end);
/* Frees the buffers. The file and the members that the session owns stay. */
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
