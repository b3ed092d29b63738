/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - counts windows and losses: the summaries of each window, and DIR/pjrecord.prom for Prometheus.
 *
 * Counters belong to DIR, not to a process: new values are added to those of the file, under a lock, so that runs from
 * cron, overlapping runs and restarts continue them. A damaged file starts again at 0. The finisher thread (windows.h)
 * replaces the file after each window; the recorder only fills struct window_report.
 */
#ifndef PJ_METRICS_H
#define PJ_METRICS_H

#include "common/process/backoff.h"
#include "record/processes/namecounts.h"
#include "record/symsaver/symsaver.h"
#include "common/formats/pjsection.h"
#include "common/text.h"

/* Waits of --off-cpu whose stacks were not read, by the reason: no space for copies, a limit of their tenant or of all,
 * the kernel refuses. */
struct unread_waits {
	uint64_t space, budget, denied;
};

/* Properties of a window at its end, filled by the recorder. */
struct window_report {
	/* Real, not planned, start and end in ns of CLOCK_MONOTONIC. */
	uint64_t begin, end;
	uint64_t samples;
	/* Number of sampled processes. */
	uint64_t processes;
	/* Size of the window's file in bytes; 0: the finisher determines it. */
	uint64_t bytes;
	/* Time in ns without recording since the end of the window before; normally 0. */
	uint64_t unrecorded_ns;
	/* Value of kernel.perf_event_max_stack, for the message about loss.depth; 0: unknown. */
	unsigned depth_limit;
	struct pj_loss loss;
	bool has_offcpu;
	struct pj_offcpu offcpu; /* off-CPU times, with --off-cpu */
	bool has_unwinding;
	struct pj_unwinding unwinding; /* counts of user stacks, with --unwind */
	struct stacks_by_name incomplete;
	/* Losses of tenants over a budget. */
	struct pj_tenants tenants;
	/* The following members are differences to the window before, except gauges such as symsaver_counts.bytes,
	 * which are current values. */
	struct symsaver_counts saved;
	/* Failures of the helper processes that make unwind tables. */
	struct helper_counts helpers;
	/* Failures of the helper processes that read JVMs. */
	struct helper_counts jvm_helpers, interpreter_helpers, wait_helpers;
	struct unread_waits unread_waits;
};

/* Reasons for which a recorded window was dropped. */
enum metrics_dropped {
	DROPPED_DISK, /* no space, quota, or the limit of file sizes was reached */
	DROPPED_IO,   /* any other error of the window's file */
	DROPPED_REASONS
};

/* Reasons for which a complete window was deleted. */
enum metrics_deleted { DELETED_BYTES, DELETED_AGE, DELETED_FREE, DELETED_REASONS };

/* Counts since the last metrics_write, and current values. */
struct metrics {
	/* The following members are counters. */
	/* Number of complete windows; of those, number of rescued ones; number of windows in bad/ that cannot be
	 * rescued. */
	uint64_t windows, rescued, bad;
	/* Number of complete windows that wait in recording/ without a lock, because the disk is slow. */
	uint64_t delayed;
	/* Number of paths that were not printed on standard output. */
	uint64_t unprinted;
	uint64_t dropped[DROPPED_REASONS], deleted[DELETED_REASONS];
	uint64_t samples, bytes, recorded_ns, unrecorded_ns;
	struct pj_loss loss; /* ring_high is a gauge: the last window's */
	struct pj_offcpu offcpu;
	struct pj_unwinding unwinding;
	struct pj_tenants tenants;    /* container keys without their low 16 bits, as in the file */
	uint64_t cpu_us;              /* CPU time of pjrecord itself in us */
	struct symsaver_counts saved; /* bytes is a gauge: the current value */
	struct helper_counts helpers; /* lingering and off are gauges: current values */
	struct unread_waits unread_waits;
	uint64_t offcpu_incomplete_ns; /* off-CPU times whose stack was read, but ends in no root frame */
	struct helper_counts jvm_helpers, interpreter_helpers, wait_helpers; /* lingering and off are gauges, too */
	/* The following members are gauges: current values. */
	uint64_t last_success; /* time of the last complete window in s since 1970; 0: the value in the file stays */
	uint64_t rss, retained_windows, saved_bytes, free_bytes;
};

/* Adds a complete window to the counters, including its bytes. */
void metrics_add(struct metrics *metrics, const struct window_report *report);

/* Adds a dropped window: its losses, failures of helper processes, and files saved to the symbol store. */
void metrics_add_dropped(struct metrics *metrics, const struct window_report *report);

void metrics_add_loss(struct pj_loss *sum, const struct pj_loss *more);

/* Adds metrics to the values in DIR/pjrecord.prom, which it replaces through a temporary file, and resets metrics. On
 * failure returns false and errno and leaves metrics, so that the next call adds them. dir: a descriptor of DIR that no
 * other process shares. */
bool metrics_write(struct metrics *metrics, int dir);

/* Appends the text of the new file to text. before: the text of the earlier file, any bytes. Does no input or
 * output. */
void metrics_text(struct text *text, const struct metrics *metrics, struct str before);

/* Appends the summary of a window, "18,180 samples of 212 processes in 30.0 s, 2.4 MB, rings up to 7 % full", and all
 * losses in words. */
void metrics_summary(struct text *text, const struct window_report *report);

/* Appends the summary sentence (judgement.h) of the window, and the time without recording before it. */
void metrics_sentence(struct text *text, const struct window_report *report);

/* Appends "2.4 MB". */
void metrics_bytes(struct text *text, uint64_t bytes);

#endif
