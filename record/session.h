/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - one recording: records out of the rings, in order of time, into one file after another.
 *
 * A window ends where the time of a record says so, so nothing is between two windows. Descriptors, rings and the table
 * of processes live as long as the recording; a file is given the state of a process (names, mappings) right before its
 * first sample in it, and no state that no sample needs. So each file stands alone and is small.
 */
#ifndef PJ_SESSION_H
#define PJ_SESSION_H

#include "record/perf/chunk.h"
#include "record/unwind/fallback.h"
#include "record/symsaver/symsaver.h"
#include "record/perf/sources.h"
#include "record/windows/windows.h"

struct session_options {
	enum target target;
	const uint32_t *pid;
	size_t npids;
	char *const *cgroup;
	size_t ncgroups;
	struct chunk_event *event; /* what is sampled; the state event is ours */
	size_t nevents;
	uint64_t offcpu; /* number of the event that blocked times are samples of, from 1; the next one is of preempted;
			    0: none */
	uint64_t offcpu_least_ns; /* shorter times are only counted */
	size_t ring_bytes;        /* 0: as large as allowed */
	uint64_t sample_bytes;    /* of records that a tenant may fill each second; 0: what all CPUs can */
	uint32_t max_frames;      /* of a user's stack that is walked here */
	bool idle;                /* samples of the idle task are wanted */
	uint32_t stack_bytes;     /* of stacks of users that are copied and walked here, by tables; 0: none, by frame
				     pointers */
	bool both;      /* and by frame pointers, where these do not reach; less than all that will do (fallback.h), */
	bool verify;    /* unless tables are compared with them */
	unsigned shown; /* so many stacks that differ */
	bool exactly;   /* stack_bytes, or none */
	char **argv;    /* for the file; NULL: not to be told */
	struct str tracing;

	bool pipe;          /* into perf's pipe mode */
	uint64_t window_ns; /* 0: one, without end */
	uint64_t count;     /* windows; 0: no end */
	bool align; /* borders are multiples of window_ns on the wall clock, and nothing before the first is kept */
};

struct session_totals {
	uint64_t windows, samples;
	struct window_report last; /* of the last window that ended */
	struct pj_loss loss;
	struct pj_offcpu offcpu;
	struct pj_unwinding unwinding;
	struct helper_counts helpers; /* that make tables: since the start */
	uint64_t idle_samples;        /* not kept */
	struct fallback fallback;
	size_t cpus, ring_bytes;
	bool without_kernel; /* user space only: no permission */
	bool no_cgroups;     /* the kernel does not report cgroups */
	unsigned depth_limit;
};

/* Opens events and rings. Returns NULL and sets *why if that fails. Call it before privileges are dropped. */
struct session *session_new(const struct session_options *options, struct sources_failure *why);

/* Forks the helper processes that unwind needs. To be called after privileges are dropped and before any thread starts:
 * a process that is forked beside threads may inherit their locks, and would then wait for ever. */
void session_fork(struct session *session);

/* Sets the output, which exists only after privileges are dropped: windows, or, if that is NULL, fd; and the symbol
 * saver, or NULL. */
void session_output(struct session *session, struct windows *windows, struct symsaver *keep, int fd);

/* Events run from here on, then /proc is read. */
void session_start(struct session *session);

/* Waits for records, for at most wait_ms, and processes the records that are due. Returns false if the last
 * requested window is complete or if writing has failed for good. */
bool session_step(struct session *session, int wait_ms);

/* Processes all pending records and ends the last window. To be called once. Returns errno of the output when
 * it is a single file that failed, else 0. */
int session_finish(struct session *session);

struct session_totals session_totals(const struct session *session);
void session_free(struct session *session);

#endif
