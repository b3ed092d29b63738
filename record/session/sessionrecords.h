/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sessionrecords.h - state of a recording, and the processing of each record that session.c takes out of the rings.
 *
 * session.c and sessionrecords.c alone include this header.
 */
#ifndef PJ_SESSIONRECORDS_H
#define PJ_SESSIONRECORDS_H

#include "record/session/lostshare.h"
#include "record/session/openwindow.h"
#include "record/perf/eventattrs.h"
#include "record/perf/ringpoll.h"
#include "record/perf/rings.h"
#include "record/session/session.h"

struct session {
	struct session_options o;
	struct eventattrs attrs;
	struct openwindow w;
	struct host *host;
	struct rings *rings;
	struct sources *sources;
	struct processes *processes;
	struct rescan *rescan;
	/* time in ns (CLOCK_MONOTONIC) at which the last window ends, as read from o.until; 0: none was set */
	uint64_t until;
	bool ended; /* true: the window that ends at `until` has ended */
	/* time in ns of the record that waits in its ring for unwind tables; 0: no record waits */
	uint64_t held;
	bool flush;         /* true: samples do not wait for helpers */
	bool cpus_changed;  /* true: CPUs came or went since the last session_look, so that the next one is due */
	struct text sample; /* buffer in which a sample is composed */
	struct session_totals totals;
	uint64_t polled, late, lost_seen, drained;
	struct lostshare lostshare; /* share of the processes of -p among the samples; empty without -p */
	uint64_t started;           /* time in ns (CLOCK_MONOTONIC) at which the events were enabled */
	uint64_t now;               /* time in ns (CLOCK_MONOTONIC) at which the rings were last drained */
	uint64_t flushed;           /* time in ns (CLOCK_MONOTONIC) of the last openwindow_flush */
	struct ringpoll waiting;
};

/* Processes one record: writes a sample with its unwound callchain to the open window, updates the state of processes
 * and the off-CPU times, and counts losses. The caller has ended the windows whose end is at or before the time of the
 * record. If a sample or a context switch has to wait for unwind tables, holds the record in its ring and sets
 * session->held. */
void sessionrecords_take(struct session *session, const struct ring_record *record);

/* Writes the sample of an off-CPU time to the open window, or drops it if it is older than the window. to: the
 * struct session. */
void sessionrecords_take_offcpu(void *to, struct ring_sample *sample);

/* Returns true if samples of this process are recorded: with -p, those of the requested processes and their children;
 * otherwise those of all. to: the struct session. */
bool sessionrecords_is_target(void *to, uint32_t pid);

#endif
