/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwinder.h - all that a recording needs to find callers itself, as one: tables of files, code of JVMs, names of their
 * interpreted methods, and who unwinds with that.
 *
 * Where the kernel's frame pointers are enough, the object is NULL, and all of this does nothing.
 */
#ifndef PJ_UNWINDER_H
#define PJ_UNWINDER_H

#include "record/processes/budgets.h"
#include "common/formats/pjsection.h"
#include "record/processes/processes.h"
#include "record/perf/rings.h"
#include "common/text.h"

struct unwinder;

/* Forks who makes tables: once privileges are dropped, before there are threads. */
struct unwinder *unwinder_fork(void);
void unwinder_start(struct unwinder *unwinder, const struct processes *processes, struct budgets *budgets,
		    uint32_t max_frames);
void unwinder_free(struct unwinder *unwinder);

/* As unwinding_verify. */
void unwinder_verify(struct unwinder *unwinder, unsigned show);

/* Becomes readable when there is something to take; -1: never. */
int unwinder_fd(const struct unwinder *unwinder);
void unwinder_take(struct unwinder *unwinder, uint64_t now);

/* Before samples up to horizon are unwound. hurry: nothing is waited for. */
void unwinder_begin(struct unwinder *unwinder, uint64_t horizon, uint64_t now, bool flush);

/* As unwinding_sample. */
bool unwinder_sample(struct unwinder *unwinder, const struct perf_event_attr *attr, const struct ring_sample *sample,
		     struct text *out);

void unwinder_name(struct unwinder *unwinder);               /* methods that were met, while they are there */
void unwinder_tick(struct unwinder *unwinder, uint64_t now); /* now and then */

/* The window ends: what was counted in it. */
struct pj_unwinding unwinder_end(struct unwinder *unwinder);

/* Items of PJ_END. */
void unwinder_put(struct unwinder *unwinder, const struct pj_unwinding *counts, struct text *text);

/* Helper processes that make tables, and that read JVMs: since the start. */
struct helper_counts unwinder_helpers(const struct unwinder *unwinder);
struct helper_counts unwinder_jvm_helpers(const struct unwinder *unwinder);

#endif
