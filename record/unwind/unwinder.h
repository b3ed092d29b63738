/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwinder.h - one object for all parts of a recording that unwind stacks.
 *
 * The parts are the unwind tables of files (cfitables.h), the code of JVMs (javacode.h), the names of interpreted
 * methods (javanames.h), and the conversion of samples (samplestack.h). With frame-pointer callchains of the kernel,
 * the object is NULL, and all functions but unwinder_sample accept NULL and do nothing. One thread uses the object.
 * Times are clock_now(), in ns.
 */
#ifndef PJ_UNWINDER_H
#define PJ_UNWINDER_H

#include "record/interpreters/interpreters.h"
#include "record/offcpu/waitframes.h"
#include "record/offcpu/waitshare.h"
#include "record/processes/budgets.h"
#include "common/formats/pjsection.h"
#include "record/processes/namecounts.h"
#include "record/processes/processes.h"
#include "record/perf/rings.h"
#include "common/text.h"

struct unwinder;

struct unwinder_options {
	const struct processes *processes;
	struct budgets *budgets;
	struct sources *sources;
	struct rings *rings;
	uint32_t max_frames; /* greatest number of frames of a stack */
	/* The stacks are compared with frame-pointer callchains: the first `shown` that differ are printed
	 * (samplestack_verify). */
	bool verify;
	unsigned shown;
	bool waits;                /* unwinder_wait will be called */
	struct waitframes *frames; /* of interpreters, of threads off the CPU; NULL: none are read */
};

/* unwinder_fork returns a new object and forks the process that starts the helpers: the caller has dropped privileges
 * and has no threads yet. interpreters: the processes whose frames of interpreters are read. unwinder_start completes
 * the object when the recording starts; what the options point to must outlive it. unwinder_free ends the helpers and
 * frees all. */
struct unwinder *unwinder_fork(enum interpreters_choice interpreters);
void unwinder_start(struct unwinder *unwinder, const struct unwinder_options *options);
void unwinder_free(struct unwinder *unwinder);

/* unwinder_fd returns a descriptor that becomes readable when unwinder_take has work; -1: never. unwinder_take takes
 * the unwind tables that helpers have made; it does not block. */
int unwinder_fd(const struct unwinder *unwinder);
void unwinder_take(struct unwinder *unwinder, uint64_t now);

/* Waits until the frames of interpreters are there for all samples until now, for 100 ms at most. */
void unwinder_flush(struct unwinder *unwinder);

/* Takes a record of RING_OF_STATE, in order of time. */
void unwinder_state(struct unwinder *unwinder, const struct ring_record *record);

/* Prepares unwinding of samples up to the time horizon. flush: samples do not wait for helpers. */
void unwinder_begin(struct unwinder *unwinder, uint64_t horizon, uint64_t now, bool flush);

/* Converts a sample as samplestack_sample does, with the time and `flush` of unwinder_begin. Returns false if the
 * sample has to wait. */
bool unwinder_sample(struct unwinder *unwinder, const struct perf_event_attr *attr, const struct ring_sample *sample,
		     struct text *out);

/* A stack that was read while its thread was off the CPU, until `until` at least. */
struct unwinder_read {
	uint64_t until;
	enum waitcopy_frames frames; /* of its interpreter */
	bool shown;                  /* set by unwinder_wait: they are in the result */
};

/* As unwinder_sample, for such a stack. In unwinder_end, it counts as one of an interpreter alone. Sets *used as
 * samplestack_used does. */
bool unwinder_wait(struct unwinder *unwinder, const struct perf_event_attr *attr, const struct ring_sample *sample,
		   struct unwinder_read *read, struct text *out, size_t *used);

/* Returns true if unwinder_wait has no frames of an interpreter to wait for: those of the thread that is off the CPU
 * since `time` were read and named before `until`, or none are read. */
bool unwinder_has_wait(const struct unwinder *unwinder, uint32_t tid, uint64_t time, uint64_t until);

/* The thread was on a CPU again, or has ended: forgets what belongs to its last unwinder_wait. */
void unwinder_resumed(struct unwinder *unwinder, uint32_t tid);

/* As samplestack_note, for a sample with a stack of unwinder_wait: addresses of interpreted frames may change. */
void unwinder_note(struct unwinder *unwinder, struct ring_sample *sample);

/* As samplestack_skip. */
bool unwinder_skip(struct unwinder *unwinder, const struct perf_event_attr *attr, const struct ring_sample *sample,
		   struct text *out);

/* As samplestack_recount. */
void unwinder_recount(struct unwinder *unwinder, const uint64_t *ips, uint64_t nips);

/* Reads the names of interpreted methods while their JVMs live. */
void unwinder_name(struct unwinder *unwinder);
/* Frees unused tables and ends idle helpers. The caller calls it every few seconds. */
void unwinder_tick(struct unwinder *unwinder, uint64_t now);

/* Ends a window: reads pending names, returns the counts of the window's stacks, sets *names to the names of processes
 * with incomplete ones, and resets both. */
struct pj_unwinding unwinder_end(struct unwinder *unwinder, struct stacks_by_name *names);

/* Appends the unwinder's items of PJ_END: the counts of a window and the names of its methods and code. stream: as for
 * codenames_put. */
void unwinder_put(struct unwinder *unwinder, const struct pj_unwinding *counts, bool stream, struct text *text);
/* Appends the items about code that is new since the last call, for a recording that is written to a pipe. */
void unwinder_put_code(struct unwinder *unwinder, struct text *text);

/* Return the counts of failures of helper processes since the start: of those that make unwind tables, of those that
 * read JVMs, and of those that read interpreters. */
struct helper_counts unwinder_helpers(const struct unwinder *unwinder);
struct helper_counts unwinder_jvm_helpers(const struct unwinder *unwinder);
struct helper_counts unwinder_interpreter_helpers(const struct unwinder *unwinder);

#endif
