/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - counts windows and losses, for the summary of each window and for Prometheus (DIR/pjrecord.prom).
 *
 * Counters belong to DIR, not to a process: new counts are added to the values in the file, under a lock. So runs from
 * cron, overlapping runs and restarts continue the counters. A damaged file starts again at 0. The finisher thread
 * (windows.h) replaces the file after each window. The recorder only fills struct window_report.
 */
#ifndef PJ_METRICS_H
#define PJ_METRICS_H

#include "common/process/backoff.h"
#include "record/processes/namecounts.h"
#include "record/symsaver/symsaver.h"
#include "common/formats/pjsection.h"
#include "common/text.h"

/* Number of waits (--off-cpu) whose stacks were not read, by reason. space: no space for copies of stacks. budget: a
 * limit of the tenant, or of all tenants together, was reached. denied: the kernel refused access to the thread. */
struct unread_waits {
	uint64_t space, budget, denied;
};

/* Properties of a window at its end. The recorder sets all members; a 0 in `bytes` means that the finisher determines
 * the size. */
struct window_report {
	/* Actual (not planned) begin and end of the window, in ns of CLOCK_MONOTONIC. */
	uint64_t begin, end;
	uint64_t samples;
	/* number of processes with samples */
	uint64_t processes;
	/* size of the window's file in bytes; 0: the finisher determines it */
	uint64_t bytes;
	/* ns without recording between the end of the previous window and the start of this one; normally 0 */
	uint64_t unrecorded_ns;
	/* Value of kernel.perf_event_max_stack in frames, for the message that stacks were truncated (loss.depth); 0:
	 * unknown. */
	unsigned depth_limit;
	struct pj_loss loss;
	bool has_offcpu;
	struct pj_offcpu offcpu; /* off-CPU times of the window; valid if has_offcpu (--off-cpu) */
	bool has_unwinding;
	struct pj_unwinding unwinding; /* counts of user stacks; valid if has_unwinding (--unwind) */
	struct stacks_by_name incomplete;
	/* Losses of tenants over a budget, in this window. */
	struct pj_tenants tenants;
	/* The members from here on count events since the previous window. Exceptions are gauges, such as
	 * symsaver_counts.bytes: they are current values. */
	struct symsaver_counts saved;
	/* failures of the helper processes that make unwind tables */
	struct helper_counts helpers;
	/* Failures of the helper processes: jvm_helpers read JVMs, interpreter_helpers read interpreters, wait_helpers
	 * read stacks off the CPU. */
	struct helper_counts jvm_helpers, interpreter_helpers, wait_helpers;
	struct unread_waits unread_waits;
};

/* Reasons for which a recorded window was dropped; index of metrics.dropped. */
enum metrics_dropped {
	DROPPED_DISK, /* no space, quota exceeded, or limit of file sizes reached */
	DROPPED_IO,   /* any other error of the window's file */
	DROPPED_REASONS
};

/* Reasons for which a complete window was deleted: limit of bytes, limit of age, file system too full. Index of
 * metrics.deleted. */
enum metrics_deleted { DELETED_BYTES, DELETED_AGE, DELETED_FREE, DELETED_REASONS };

/* Counts since the last successful metrics_write, and gauges. */
struct metrics {
	/* Numbers of windows. windows: complete windows, rescued ones included. rescued: windows of killed runs that
	 * were rescued. bad: windows of killed runs that were moved to bad/. */
	uint64_t windows, rescued, bad;
	/* number of complete windows that were left in recording/ without a lock, because the disk is slow; a later
	 * rescue moves them to out/ */
	uint64_t delayed;
	/* number of paths that were not printed on standard output */
	uint64_t unprinted;
	uint64_t dropped[DROPPED_REASONS], deleted[DELETED_REASONS];
	uint64_t samples, bytes, recorded_ns, unrecorded_ns;
	/* losses; member ring_high is a gauge: fill of the fullest ring in the last window, in 1/1000 */
	struct pj_loss loss;
	struct pj_offcpu offcpu;
	struct pj_unwinding unwinding;
	/* losses by tenant; keys of containers have their low 16 bits cleared, because the file omits these bits */
	struct pj_tenants tenants;
	uint64_t cpu_us;              /* CPU time of pjrecord itself in us */
	struct symsaver_counts saved; /* counts of the symbol saver; member bytes is a gauge */
	/* failures of helper processes that make unwind tables; members lingering and off are gauges */
	struct helper_counts helpers;
	struct unread_waits unread_waits;
	/* sum of off-CPU times in ns whose stack was read, but does not end in a root frame */
	uint64_t offcpu_incomplete_ns;
	/* failures of the helper processes that read JVMs, interpreters, and stacks off the CPU; members lingering and
	 * off are gauges */
	struct helper_counts jvm_helpers, interpreter_helpers, wait_helpers;
	/* gauge: time of the last complete window in s since 1970; 0: metrics_write keeps the value in the file */
	uint64_t last_success;
	/* Gauges: memory of pjrecord (rss) in bytes; number and bytes (saved_bytes) of the complete windows in out/;
	 * bytes free in the file system. */
	uint64_t rss, retained_windows, saved_bytes, free_bytes;
};

/* Adds a complete window to the counters: 1 window, its samples, bytes, times and losses. */
void metrics_add(struct metrics *metrics, const struct window_report *report);

/* Adds the figures of a dropped window that are counted without its file: losses, failures of helper processes, waits
 * whose stacks were not read, files in the symbol store. */
void metrics_add_dropped(struct metrics *metrics, const struct window_report *report);

void metrics_add_loss(struct pj_loss *sum, const struct pj_loss *more);

/* Adds metrics to the values in DIR/pjrecord.prom, replaces that file through a temporary one, and sets metrics to 0.
 * On failure returns false with errno and leaves metrics unchanged, so that the next call adds them. dir: descriptor of
 * DIR, not shared with another process, because the call locks DIR through it. */
bool metrics_write(struct metrics *metrics, int dir);

/* Appends the text of the new pjrecord.prom to text: metrics added to the values in `before`. before: text of the
 * earlier file; any bytes are accepted. Pure: no input or output. */
void metrics_text(struct text *text, const struct metrics *metrics, struct str before);

/* Appends the summary of a window, such as "18,180 samples of 212 processes in 30.0 s, 2.4 MB, rings up to 7 % full",
 * and all its losses in words. */
void metrics_summary(struct text *text, const struct window_report *report);

/* Appends the summary sentence (judgement.h) of the window, and the time without recording before the window. */
void metrics_sentence(struct text *text, const struct window_report *report);

/* Appends a number of bytes with a decimal unit, such as "2.4 MB". */
void metrics_bytes(struct text *text, uint64_t bytes);

#endif
