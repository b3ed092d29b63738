/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - one recording: takes records out of the rings in order of time, and writes them to one file after
 * another.
 *
 * A window ends when the time of a record passes its border, so there is no gap between two windows. Descriptors, rings
 * and the table of processes live as long as the recording. The state of a process (names, mappings) is written to a
 * file just before the first sample in the file that needs it. State that no sample needs is not written. So each file
 * is complete by itself, and small.
 *
 * Order of calls: session_new as root, then drop privileges, session_fork, session_output, session_start, session_step
 * until it returns false, session_finish, session_free. One thread makes all calls.
 */
#ifndef PJ_SESSION_H
#define PJ_SESSION_H

#include "record/interpreters/interpreters.h"
#include "record/perf/chunk.h"
#include "record/unwind/fallback.h"
#include "record/symsaver/symsaver.h"
#include "record/unwind/unwinder.h"
#include "record/perf/sources.h"
#include "record/windows/recorderlock.h"
#include "record/windows/windows.h"

/* Options of a recording. Strings and arrays must live as long as the session. */
struct session_options {
	enum target target;
	/* The targets, as `target` selects: pid[0..npids) are pids of processes, cgroup[0..ncgroups) are paths of
	 * cgroup directories. */
	const uint32_t *pid;
	size_t npids;
	char *const *cgroup;
	size_t ncgroups;
	/* sampled events; beside these, the session opens an event of its own for the records of mmap, comm, fork and
	 * exit */
	struct chunk_event *event;
	size_t nevents;
	/* Index, from 1, of the event for samples of blocked time; the next event is for preempted time. 0: off-CPU
	 * times are not recorded. */
	uint64_t offcpu;
	/* true: this is a wall-clock profile; requires offcpu. Then the periods of samples of event 1 are on-CPU times,
	 * and event offcpu + 2 is for on-CPU time that is in no sample. */
	bool wall;
	/* Message that the recording prints once a process with an interpreter was sampled, if interpreted frames are
	 * not read: when it sees the sample, or, if it records a command, at the end. NULL: none. */
	const char *unread;
	/* parent: pid of the process with which pjrecord ends. command: pid of the command that pjrecord starts
	 * (ownprocesses.h). 0: no such process. */
	uint32_t parent, command;
	/* minimum off-CPU time in ns that gives a sample; shorter times are only counted */
	uint64_t offcpu_least_ns;
	/* size in bytes of the ring of samples of one CPU; 0: the largest size that the host allows */
	size_t ring_bytes;
	/* maximum bytes of samples of one tenant per second, beyond which samples lose their stacks; 0: as much as all
	 * CPUs need */
	uint64_t sample_bytes;
	/* maximum number of frames of a user stack that the unwinder produces; deeper stacks are truncated */
	uint32_t max_frames;
	/* true: samples of the idle task are recorded, too */
	bool idle;
	/* size in bytes of the stack copy in each sample, for unwinding by tables; 0: the kernel unwinds by frame
	 * pointers */
	uint32_t stack_bytes;
	/* true: samples also have the kernel's frame-pointer callchain, which is used where unwind tables fail. If the
	 * host refuses stack copies of stack_bytes, smaller copies or none are recorded (fallback.h). */
	bool both;
	/* true: the unwound stack and the frame-pointer callchain are compared (--unwind=verify); requires `both`. Then
	 * smaller stack copies are not accepted. */
	bool verify;
	/* choice of the processes whose interpreted functions are read and shown; ignored with `verify` */
	enum interpreters_choice interpreters;
	/* maximum number of differing stacks that `verify` prints */
	unsigned shown;
	/* true: stack copies smaller than stack_bytes are not accepted; with `both`, frame-pointer unwinding is
	 * accepted instead */
	bool exactly;
	/* command line to store in the files; NULL: none is stored */
	char **argv;
	/* TRACING_DATA section for tracepoints; empty: no event is a tracepoint */
	struct str tracing;

	/* true: the output is written in perf's pipe mode */
	bool pipe;
	/* length of a window in ns; 0: a single window, which ends with the recording */
	uint64_t window_ns;
	/* number of windows to record; 0: no limit */
	uint64_t count;
	/* true: window borders are multiples of window_ns on the wall clock, and samples before the first border are
	 * dropped */
	bool align;
	/* Lock whose holders are recorders to replace: session_start requests them to end at the time at which the
	 * first window begins. NULL: no recorder is replaced. */
	const struct recorderlock *replaced;
	/* Pointer to the time, in ns of CLOCK_MONOTONIC, at which the last window ends; value 0: no such time yet. A
	 * signal handler may set the value at any moment. NULL: there is never such a time. */
	const volatile _Atomic uint64_t *until;
};

/* Sums over all windows that have ended, and properties of the recording. */
struct session_totals {
	uint64_t windows, samples;
	/* report of the newest window that has ended */
	struct window_report last;
	struct pj_loss loss;
	/* number of lost samples that, by the estimate of lostshare.h, belong to other processes than those of -p */
	uint64_t lost_others;
	struct pj_offcpu offcpu;
	struct pj_unwinding unwinding;
	/* failures of the helper processes that make unwind tables, since the start */
	struct helper_counts helpers;
	/* true: the kernel refused all reads of stacks of threads off the CPU, for lack of a right */
	bool waits_denied;
	uint64_t oncpu_ns; /* sum of the on-CPU times in samples of a wall-clock profile, in ns */
	/* number of samples of idle CPUs that were dropped (without `idle`) */
	uint64_t idle_samples;
	struct allocation_counts allocations;
	struct fallback fallback;
	/* cpus: number of recorded CPUs. ring_bytes: size of all rings in bytes. */
	size_t cpus, ring_bytes;
	/* true: only user space is recorded, as the permission to record the kernel is missing */
	bool without_kernel;
	bool changed;    /* true: a libjvm.so has changed after its breakpoints were tested (sources_changed) */
	bool no_cgroups; /* true: the kernel does not report the cgroup of a sample */
	/* value of kernel.perf_event_max_stack, in frames */
	unsigned depth_limit;
};

/* Opens events and rings. Must be called before privileges are dropped. Returns NULL and sets *why on failure. */
struct session *session_new(const struct session_options *options, struct sources_failure *why);

/* Forks the helper processes of the unwinder. Must be called after privileges are dropped and before any thread starts:
 * a process that is forked while threads run may inherit locks that are never released. */
void session_fork(struct session *session);

/* Sets the output, which can be opened only after privileges are dropped: `windows` or, if that is NULL, the descriptor
 * fd of a single file or pipe. keep: the symbol saver; NULL: none runs. */
void session_output(struct session *session, struct windows *windows, struct symsaver *keep, int fd);

/* Enables the events, then reads the existing processes from /proc, and opens the first window. Must be called after
 * session_output. */
void session_start(struct session *session);

/* Waits for records, at most wait_ms, and processes the records that are due. Returns false if the recording must end:
 * the last requested window is complete, or the single file cannot be written. */
bool session_step(struct session *session, int wait_ms);

/* Processes all pending records and ends the last window. Must be called once. Returns the errno if the single file
 * could not be written, otherwise 0; always 0 for windows in a directory. */
int session_finish(struct session *session);

/* Returns the totals so far. Of the open window, only oncpu_ns, idle_samples, lost_others, helpers and allocations are
 * included. */
struct session_totals session_totals(const struct session *session);
/* Closes events and rings, and frees the session. Accepts NULL. */
void session_free(struct session *session);

#endif
