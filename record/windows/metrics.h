/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - what happened to windows, as numbers: the summary line of each, and DIR/pjrecord.prom for Prometheus.
 *
 * Counters belong to DIR, not to a process: what is new is added to what the file says, under a lock, so that runs from
 * cron, runs that overlap and restarts count on. A file that is damaged starts again from nothing. It is replaced
 * whole, once a window, by whoever finishes windows (windows.h); the recorder only fills in struct window_report.
 */
#ifndef PJ_METRICS_H
#define PJ_METRICS_H

#include "common/process/backoff.h"
#include "record/symsaver/symsaver.h"
#include "common/formats/pjsection.h"
#include "common/text.h"

/* What the recorder knows of a window when it ends. */
struct window_report {
	uint64_t begin, end; /* CLOCK_MONOTONIC, ns; end as it was, not as it was planned */
	uint64_t samples;
	uint64_t processes;     /* that were sampled */
	uint64_t bytes;         /* of the file; 0: who finishes it looks */
	uint64_t unrecorded_ns; /* since the window before, when nothing was recorded; normally 0 */
	unsigned depth_limit;   /* kernel.perf_event_max_stack, for loss.depth; 0: not known */
	struct pj_loss loss;
	bool has_offcpu;
	struct pj_offcpu offcpu; /* with --off-cpu */
	bool has_unwinding;
	struct pj_unwinding unwinding;    /* with --unwind */
	struct pj_tenants tenants;        /* that were over a budget */
	struct symsaver_counts saved;     /* what is new since the window before; bytes: as they are now */
	struct helper_counts helpers;     /* that make tables; the same */
	struct helper_counts jvm_helpers; /* that read JVMs; the same */
};

/* Windows that were recorded and are not kept. */
enum metrics_dropped {
	DROPPED_DISK, /* no space, quota, or larger than files may be */
	DROPPED_IO,   /* any other error of the file */
	DROPPED_REASONS
};

/* Complete windows that made room. */
enum metrics_deleted { DELETED_BYTES, DELETED_AGE, DELETED_FREE, DELETED_REASONS };

/* What is new since the last time. */
struct metrics {
	/* counters */
	uint64_t windows, rescued, bad; /* complete; of these, of killed runs; beyond rescue */
	uint64_t delayed;               /* complete ones that had to wait for a slow disk without a lock */
	uint64_t unprinted;             /* paths that nobody read */
	uint64_t dropped[DROPPED_REASONS], deleted[DELETED_REASONS];
	uint64_t samples, bytes, recorded_ns, unrecorded_ns;
	struct pj_loss loss; /* ring_high is a gauge */
	struct pj_offcpu offcpu;
	struct pj_unwinding unwinding;
	struct pj_tenants tenants;        /* by name, as in the file: of a container the first 12 digits */
	uint64_t cpu_us;                  /* of this process */
	struct symsaver_counts saved;     /* bytes is a gauge */
	struct helper_counts helpers;     /* lingering and off are gauges */
	struct helper_counts jvm_helpers; /* the same */
	/* gauges: as they are now */
	uint64_t last_success; /* seconds since 1970 of the last complete window; 0: as before */
	uint64_t rss, retained_windows, saved_bytes, free_bytes;
};

void metrics_add(struct metrics *metrics, const struct window_report *report); /* a complete window; bytes included */
void metrics_add_dropped(struct metrics *metrics,
			 const struct window_report *report); /* one that was dropped: loss, and what was kept */
void metrics_add_loss(struct pj_loss *sum, const struct pj_loss *more);

/* Adds metrics to DIR/pjrecord.prom, through a temporary file beside it, and empties metrics. On failure metrics stays
 * as it is, errno says why, and the next call brings it. dir: a descriptor of DIR, of this process alone. */
bool metrics_write(struct metrics *metrics, int dir);

/* As above, as text: pure. before: the file so far, may be anything. */
void metrics_text(struct text *text, const struct metrics *metrics, struct str before);

/* "18,180 samples of 212 processes in 30.0 s, 2.4 MB, rings up to 7 % full", and all that was lost, in words. */
void metrics_summary(struct text *text, const struct window_report *report);

void metrics_bytes(struct text *text, uint64_t bytes); /* "2.4 MB" */

#endif
