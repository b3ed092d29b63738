/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - one recording: takes records out of the rings in order of time and writes them to one file after
 * another.
 *
 * A window ends when the time of a record passes its border, so no time lies between two windows. Descriptors, rings
 * and the table of processes live as long as the recording. A file receives the state of a process (names, mappings)
 * right before the first sample that needs it, and no other state. So each file is complete by itself and small.
 *
 * Order of calls: session_new as root, then drop privileges, session_fork, session_output, session_start,
 * session_step until it returns false, session_finish, session_free. One thread makes all calls.
 */
#ifndef PJ_SESSION_H
#define PJ_SESSION_H

#include "record/perf/chunk.h"
#include "record/unwind/fallback.h"
#include "record/symsaver/symsaver.h"
#include "record/perf/sources.h"
#include "record/windows/recorderlock.h"
#include "record/windows/windows.h"

/* Strings and arrays must live as long as the session. */
struct session_options {
	enum target target;
	/* Targets: processes or cgroup directories, as `target` selects. */
	const uint32_t *pid;
	size_t npids;
	char *const *cgroup;
	size_t ncgroups;
	/* sampled events; the session adds its event for process state */
	struct chunk_event *event;
	size_t nevents;
	/* Index from 1 of the event for samples of blocked time; the next event is that of preempted time. 0 without
	 * --off-cpu. */
	uint64_t offcpu;
	/* shorter times are counted, but are no samples */
	uint64_t offcpu_least_ns;
	/* ring of samples of one CPU; 0 selects the largest size that is allowed */
	size_t ring_bytes;
	/* bytes of samples that one tenant may fill in a second; 0 is as much as all CPUs need */
	uint64_t sample_bytes;
	/* maximum number of frames that the unwinder produces for a user stack */
	uint32_t max_frames;
	/* samples of the idle task are recorded, too */
	bool idle;
	/* bytes of the user stack that are copied with each sample and unwound by tables; 0 for frame-pointer
	 * unwinding by the kernel */
	uint32_t stack_bytes;
	/* use frame-pointer callchains where tables fail, and continue with less than all of it if the host refuses
	 * (fallback.h) */
	bool both;
	/* with `both`: compare the two (--unwind=verify), so less is not accepted */
	bool verify;
	/* number of differing stacks that are printed */
	unsigned shown;
	/* accept no stack copy smaller than stack_bytes */
	bool exactly;
	/* command line for the files; NULL leaves it out */
	char **argv;
	/* TRACING_DATA section for tracepoints, may be empty */
	struct str tracing;

	/* write in perf's pipe mode */
	bool pipe;
	/* length of a window; 0 for a single window without end */
	uint64_t window_ns;
	/* number of windows; 0 for no limit */
	uint64_t count;
	/* Window borders are multiples of window_ns on the wall clock, and samples before the first border are
	 * dropped. */
	bool align;
	/* Recorders to replace: they are asked to end at the time at which the first window begins. NULL: none. */
	const struct recorderlock *replaced;
	/* CLOCK_MONOTONIC at which the last window ends, 0: none; a signal handler may set it at any moment. NULL: the
	 * recording has no such time. */
	const volatile _Atomic uint64_t *until;
};

/* Sums over all windows, and facts about the recording. */
struct session_totals {
	uint64_t windows, samples;
	/* report of the last window that ended */
	struct window_report last;
	struct pj_loss loss;
	struct pj_offcpu offcpu;
	struct pj_unwinding unwinding;
	/* events of the helpers that read unwind tables, since the start */
	struct helper_counts helpers;
	/* samples of idle CPUs that were dropped */
	uint64_t idle_samples;
	struct fallback fallback;
	/* number of CPUs, and bytes of all rings */
	size_t cpus, ring_bytes;
	/* only user space is recorded, for lack of permission */
	bool without_kernel;
	bool no_cgroups; /* the kernel does not report cgroups */
	/* kernel.perf_event_max_stack */
	unsigned depth_limit;
};

/* Opens events and rings. Returns NULL and sets *why if that fails. Call it before privileges are dropped. */
struct session *session_new(const struct session_options *options, struct sources_failure *why);

/* Forks the helper processes of the unwinder. Call it after privileges are dropped and before any thread starts: a
 * process that is forked beside threads may inherit their locks and then wait for ever. */
void session_fork(struct session *session);

/* Sets the output, which exists only after privileges are dropped: windows, or, if that is NULL, fd; and the symbol
 * saver, or NULL. */
void session_output(struct session *session, struct windows *windows, struct symsaver *keep, int fd);

/* Enables the events, then reads the existing processes from /proc and opens the first window. Call it after
 * session_output. */
void session_start(struct session *session);

/* Waits for records, for at most wait_ms, and processes the records that are due. Returns false if the last
 * requested window is complete or if writing has failed for good. */
bool session_step(struct session *session, int wait_ms);

/* Processes all pending records and ends the last window. To be called once. Returns errno of the output when
 * it is a single file that failed, else 0. */
int session_finish(struct session *session);

/* Returns the totals up to now; those of the open window are not included. */
struct session_totals session_totals(const struct session *session);
/* Closes events and rings and frees everything. Accepts NULL. */
void session_free(struct session *session);

#endif
