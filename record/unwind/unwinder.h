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

#include "record/processes/budgets.h"
#include "common/formats/pjsection.h"
#include "record/processes/processes.h"
#include "record/perf/rings.h"
#include "common/text.h"

struct unwinder;

/* unwinder_fork forks the starter of the helpers: the caller has dropped privileges and has no threads yet.
 * unwinder_start completes the object when the recording starts; processes and budgets must outlive it. max_frames
 * limits the frames of a stack. unwinder_free ends the helpers and frees all. */
struct unwinder *unwinder_fork(void);
void unwinder_start(struct unwinder *unwinder, const struct processes *processes, struct budgets *budgets,
		    uint32_t max_frames);
void unwinder_free(struct unwinder *unwinder);

/* As samplestack_verify: compares all stacks with frame pointers and prints the first `show` that differ. */
void unwinder_verify(struct unwinder *unwinder, unsigned show);

/* Returns a descriptor that becomes readable when unwinder_take has work; -1: never. unwinder_take does not block. */
int unwinder_fd(const struct unwinder *unwinder);
void unwinder_take(struct unwinder *unwinder, uint64_t now);

/* Call this before samples up to time horizon are unwound. flush: nothing is waited for. */
void unwinder_begin(struct unwinder *unwinder, uint64_t horizon, uint64_t now, bool flush);

/* As samplestack_sample, with the time and `flush` of unwinder_begin. Returns false if the sample has to wait. */
bool unwinder_sample(struct unwinder *unwinder, const struct perf_event_attr *attr, const struct ring_sample *sample,
		     struct text *out);

/* As samplestack_skip. */
bool unwinder_skip(struct unwinder *unwinder, const struct perf_event_attr *attr, const struct ring_sample *sample,
		   struct text *out);

/* Reads the names of interpreted methods while their JVMs live. */
void unwinder_name(struct unwinder *unwinder);
/* Frees unused tables and ends idle helpers; to be called every few seconds. */
void unwinder_tick(struct unwinder *unwinder, uint64_t now);

/* Ends a window: reads pending names, and returns and resets the counters of the window. */
struct pj_unwinding unwinder_end(struct unwinder *unwinder);

/* Appends the unwinder's items of PJ_END: the counters of a window and the names of its methods and code. stream: as
 * for codenames_put. */
void unwinder_put(struct unwinder *unwinder, const struct pj_unwinding *counts, bool stream, struct text *text);
/* Appends the items of a stream about code that is new since the last call. */
void unwinder_put_code(struct unwinder *unwinder, struct text *text);

/* Return the counters of the helper processes since the start: of those that make unwind tables, and of those that
 * read JVMs. */
struct helper_counts unwinder_helpers(const struct unwinder *unwinder);
struct helper_counts unwinder_jvm_helpers(const struct unwinder *unwinder);

#endif
