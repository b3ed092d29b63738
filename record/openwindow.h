/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openwindow.h - the window that is recorded now: what is written into its file, and what is counted in it.
 *
 * session.h takes records out of the rings and decides when a window ends; all that goes into the file of a window goes
 * through here. A sample is written behind what readers need to name it, within the budget of its tenant (budgets.h).
 * Times off the CPU that are over budget are summed by thread (overtimes.h) until openwindow_flush.
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
	/* of the recording; the session's */
	const struct session_options *o;
	const struct eventattrs *attrs;
	struct session_totals *totals;
	struct chunk_facts facts;
	struct symsaver *keep; /* NULL: nothing is kept */
	struct kernel *kernel;
	struct cgroups *cgroups;
	struct budgets *budgets;
	struct state *state;
	struct switches *switches; /* NULL: without --off-cpu */
	struct unwinder *unwinder; /* NULL: the kernel walks stacks, by frame pointers */

	/* of the window */
	struct output out;
	struct window_report report;
	uint64_t begin, end, serial;
	uint64_t first, last; /* times of samples */
	struct idle idle;
	struct overtimes *overtimes; /* NULL: none yet */
	struct text text, brief;     /* records that are being made */

	/* when the last window ended */
	struct symsaver_counts saved;
	struct helper_counts helpers, jvm_helpers;
	uint64_t done; /* windows ended, dropped ones included */
};

void openwindow_begin(struct openwindow *openwindow, uint64_t begin, uint64_t end);
void openwindow_end(struct openwindow *openwindow, uint64_t end);
void openwindow_free(struct openwindow *openwindow);

/* A sample, in order of time. */
void openwindow_sample(struct openwindow *openwindow, const struct ring_sample *sample);

/* n samples that the kernel had no room for. */
void openwindow_lost_samples(struct openwindow *openwindow, uint64_t n, uint64_t ns, uint32_t cpu);

/* What was recorded until now goes to the file. */
void openwindow_flush(struct openwindow *openwindow);

/* Number of the event that carries the state of processes. */
uint64_t openwindow_state_event(const struct openwindow *openwindow);

#endif
