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

struct callers;

/* Forks who makes tables: once privileges are dropped, before there are threads. */
struct callers *callers_fork(void);
void callers_start(struct callers *c, const struct processes *p, struct budgets *budgets, uint32_t max_frames);
void callers_free(struct callers *c);

/* As unwinding_verify. */
void callers_verify(struct callers *c, unsigned show);

/* Becomes readable when there is something to take; -1: never. */
int callers_fd(const struct callers *c);
void callers_take(struct callers *c, uint64_t now);

/* Before samples up to horizon are unwound. hurry: nothing is waited for. */
void callers_begin(struct callers *c, uint64_t horizon, uint64_t now, bool hurry);

/* As unwinding_sample. */
bool callers_sample(struct callers *c, const struct perf_event_attr *a, const struct ring_sample *r, struct text *out);

void callers_name(struct callers *c);               /* methods that were met, while they are there */
void callers_tick(struct callers *c, uint64_t now); /* now and then */

/* The window ends: what was counted in it. */
struct pj_unwinding callers_end(struct callers *c);

/* Items of PJ_END. */
void callers_put(struct callers *c, const struct pj_unwinding *counts, struct text *t);

/* Helper processes that make tables, and that read JVMs: since the start. */
struct helper_counts callers_helpers(const struct callers *c);
struct helper_counts callers_jvm_helpers(const struct callers *c);

#endif
