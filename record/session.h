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

#include "record/interpreters/interpreters.h"
#include "record/perf/chunk.h"
#include "record/unwind/fallback.h"
#include "record/symsaver/symsaver.h"
#include "record/perf/sources.h"
#include "record/windows/recorderlock.h"
#include "record/windows/windows.h"

/* Options of a recording. Strings and arrays must live as long as the session. */
struct session_options {
	enum target target;
	/* The targets: pids of processes, or paths of cgroup directories, as `target` selects. */
	const uint32_t *pid;
	size_t npids;
	char *const *cgroup;
	size_t ncgroups;
	/* sampled events; the session adds its event for process state */
	struct chunk_event *event;
	size_t nevents;
	/* Index from 1 of the event for samples of blocked time; the event after it is that for preempted time. 0: no
	 * --off-cpu. */
	uint64_t offcpu;
	/* true, with offcpu: a wall-clock profile. The periods of samples of event 1 become on-CPU times, and event
	 * offcpu + 2 is that of on-CPU time without sample. */
	bool wall;
	/* pids of the process with which pjrecord ends, and of the command that it starts (ownprocesses.h); 0: none */
	uint32_t parent, command;
	/* off-CPU times below this number of ns are counted, but give no samples */
	uint64_t offcpu_least_ns;
	/* size in bytes of the ring of samples of one CPU; 0: the largest that is allowed */
	size_t ring_bytes;
	/* limit of the bytes of samples of one tenant in a second; 0: as much as all CPUs need */
	uint64_t sample_bytes;
	/* greatest number of frames of a user stack that the unwinder produces */
	uint32_t max_frames;
	/* true: samples of the idle task are recorded, too */
	bool idle;
	/* size in bytes of the stack copy in each sample, which is unwound by tables; 0: frame-pointer unwinding by the
	 * kernel */
	uint32_t stack_bytes;
	/* true: samples have the kernel's frame-pointer callchain, too, which is used where unwind tables fail. If the
	 * host refuses stack copies of stack_bytes, smaller ones or none are recorded (fallback.h). */
	bool both;
	/* true, with `both`: the two callchains are compared (--unwind=verify), so smaller copies are not accepted */
	bool verify;
	/* processes of which the functions that interpreters run are read and shown, except with `verify` */
	enum interpreters_choice interpreters;
	/* greatest number of differing stacks that `verify` prints */
	unsigned shown;
	/* true: no stack copy smaller than stack_bytes is accepted */
	bool exactly;
	/* command line that the files contain; NULL: none */
	char **argv;
	/* TRACING_DATA section for tracepoints; may be empty */
	struct str tracing;

	/* true: the output is written in perf's pipe mode */
	bool pipe;
	/* length of a window in ns; 0: one window without end */
	uint64_t window_ns;
	/* number of windows; 0: no limit */
	uint64_t count;
	/* true: window borders are multiples of window_ns on the wall clock, and samples before the first border are
	 * dropped. */
	bool align;
	/* Recorders to replace: they are asked to end at the time at which the first window begins. NULL: none. */
	const struct recorderlock *replaced;
	/* CLOCK_MONOTONIC at which the last window ends, 0: none; a signal handler may set it at any moment. NULL: the
	 * recording has no such time. */
	const volatile _Atomic uint64_t *until;
};

/* Sums over all windows that ended, and properties of the recording. */
struct session_totals {
	uint64_t windows, samples;
	/* report of the last window that ended */
	struct window_report last;
	struct pj_loss loss;
	struct pj_offcpu offcpu;
	struct pj_unwinding unwinding;
	/* failures of the helpers that make unwind tables, since the start */
	struct helper_counts helpers;
	/* true: the kernel refused to read stacks of threads off the CPU, and none was read */
	bool waits_denied;
	uint64_t oncpu_ns; /* on-CPU time of samples of a wall-clock profile, in ns */
	/* number of samples of idle CPUs that were dropped */
	uint64_t idle_samples;
	struct fallback fallback;
	/* number of recorded CPUs; bytes of all rings */
	size_t cpus, ring_bytes;
	/* true: only user space is recorded, because the permission for the kernel is missing */
	bool without_kernel;
	bool no_cgroups; /* true: the kernel does not report cgroups */
	/* value of kernel.perf_event_max_stack */
	unsigned depth_limit;
};

/* Opens events and rings. Returns NULL and sets *why if that fails. Call it before privileges are dropped. */
struct session *session_new(const struct session_options *options, struct sources_failure *why);

/* Forks the helper processes of the unwinder. Call it after privileges are dropped and before any thread starts: a
 * process that is forked beside threads may inherit their locks and then wait for ever. */
void session_fork(struct session *session);

/* Sets the output, which exists only after privileges are dropped: windows or, if that is NULL, the descriptor fd.
 * keep: the symbol saver, or NULL. */
void session_output(struct session *session, struct windows *windows, struct symsaver *keep, int fd);

/* Enables the events, then reads the existing processes from /proc and opens the first window. Call it after
 * session_output. */
void session_start(struct session *session);

/* Waits for records, for at most wait_ms, and processes the records that are due. Returns false if the last
 * requested window is complete or if writing has failed for good. */
bool session_step(struct session *session, int wait_ms);

/* Processes all pending records and ends the last window; call it once. Returns the errno if the output is a single
 * file to which writing failed, else 0. */
int session_finish(struct session *session);

/* Returns the totals up to now, without those of the open window. */
struct session_totals session_totals(const struct session *session);
/* Closes events and rings and frees everything. Accepts NULL. */
void session_free(struct session *session);

#endif
