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
#include "record/symsaver/symsaver.h"
#include "common/formats/pjsection.h"
#include "common/text.h"

/* Facts of a window at its end, filled by the recorder. */
struct window_report {
	/* CLOCK_MONOTONIC, ns; the real end, not the planned one. */
	uint64_t begin, end;
	uint64_t samples;
	/* Sampled processes. */
	uint64_t processes;
	/* Of the file; 0: the finisher determines it. */
	uint64_t bytes;
	/* Time without recording since the window before; normally 0. */
	uint64_t unrecorded_ns;
	/* kernel.perf_event_max_stack, for loss.depth; 0: unknown. */
	unsigned depth_limit;
	struct pj_loss loss;
	bool has_offcpu;
	struct pj_offcpu offcpu; /* with --off-cpu */
	bool has_unwinding;
	struct pj_unwinding unwinding; /* with --unwind */
	/* Tenants over a budget. */
	struct pj_tenants tenants;
	/* The rest are differences to the window before; symsaver_counts.bytes is the current value. */
	struct symsaver_counts saved;
	/* Helper processes that make unwind tables. */
	struct helper_counts helpers;
	/* Helper processes that read JVMs. */
	struct helper_counts jvm_helpers;
};

/* Reasons to drop a window that was recorded. */
enum metrics_dropped {
	DROPPED_DISK, /* no space, quota, or the limit of file sizes */
	DROPPED_IO,   /* any other error of the file */
	DROPPED_REASONS
};

/* Reasons to delete a complete window. */
enum metrics_deleted { DELETED_BYTES, DELETED_AGE, DELETED_FREE, DELETED_REASONS };

/* Differences since the last metrics_write. */
struct metrics {
	/* counters */
	/* Complete windows; those of killed runs among them; windows that cannot be rescued. */
	uint64_t windows, rescued, bad;
	/* Complete windows that waited for a slow disk without a lock. */
	uint64_t delayed;
	/* Paths that were not printed. */
	uint64_t unprinted;
	uint64_t dropped[DROPPED_REASONS], deleted[DELETED_REASONS];
	uint64_t samples, bytes, recorded_ns, unrecorded_ns;
	struct pj_loss loss; /* ring_high is a gauge */
	struct pj_offcpu offcpu;
	struct pj_unwinding unwinding;
	struct pj_tenants tenants;        /* by name, as in the file: the first 12 digits of a container */
	uint64_t cpu_us;                  /* of this process */
	struct symsaver_counts saved;     /* bytes is a gauge */
	struct helper_counts helpers;     /* lingering and off are gauges */
	struct helper_counts jvm_helpers; /* the same */
	/* gauges: current values */
	uint64_t last_success; /* seconds since 1970 of the last complete window; 0: unchanged */
	uint64_t rss, retained_windows, saved_bytes, free_bytes;
};

/* Adds a complete window, bytes included. */
void metrics_add(struct metrics *metrics, const struct window_report *report);

/* Adds a dropped window: its losses, and the files saved to the symbol store. */
void metrics_add_dropped(struct metrics *metrics, const struct window_report *report);

void metrics_add_loss(struct pj_loss *sum, const struct pj_loss *more);

/* Adds metrics to DIR/pjrecord.prom, through a temporary file beside it, and resets metrics. On failure returns false
 * and errno and leaves metrics, so that the next call adds them. dir: a descriptor of DIR that no other process shares.
 */
bool metrics_write(struct metrics *metrics, int dir);

/* Appends the text of the file to text; pure. before: the present file, any bytes. */
void metrics_text(struct text *text, const struct metrics *metrics, struct str before);

/* Appends "18,180 samples of 212 processes in 30.0 s, 2.4 MB, rings up to 7 % full" and all losses in words. */
void metrics_summary(struct text *text, const struct window_report *report);

/* Appends the summary sentence (judgement.h) of the window, and the time without recording before it. */
void metrics_sentence(struct text *text, const struct window_report *report);

/* Appends "2.4 MB". */
void metrics_bytes(struct text *text, uint64_t bytes);

#endif
