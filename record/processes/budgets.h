/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budgets.h - what the recorder spends on each tenant (tenants.h), and what it left out of a window for whom.
 *
 * Over a budget a tenant loses detail, never weight: a sample stays, with its time, thread and period, but its
 * callchain is one frame that readers show as "[over budget]"; a mapping that is left out makes its addresses nameless;
 * a process that is not read from /proc keeps the names it had; code of a JVM that is not read, or of a file whose
 * tables are not made, is walked by frame pointers. Other tenants do not notice. What was left out is counted by tenant
 * in each window (PJ_ITEM_TENANT), in the summary line, and in DIR/pjrecord.prom.
 */
#ifndef PJ_BUDGETS_H
#define PJ_BUDGETS_H

#include "record/perf/chunk.h"
#include "record/perf/rings.h"
#include "common/process/tenants.h"

/* Of each tenant. Real programs stay far below: see ARCHITECTURE.md, "Budgets". */
#define BUDGET_MEMORY (UINT64_C(8) << 20)        /* mappings beyond the first MAPPINGS_FREE bytes of each process */
#define BUDGET_MEMORY_TOTAL (UINT64_C(16) << 20) /* the same, of all tenants */
#define BUDGET_CPU_NS \
	UINT64_C(50000000) /* of each second, for all that is done for a tenant: JVMs, tables, /proc, mappings */
#define BUDGET_CPU_AHEAD UINT64_C(2000000000) /* at once: the tables of a browser take 0.2 s */
#define BUDGET_JVM_AHEAD \
	UINT64_C(250000000) /* of these, to read JVMs: the start of one takes 30 ms, one that uses 128 CPUs 15 ms/s */
#define BUDGET_PROC_NS \
	UINT64_C(20000000) /* of each second: /proc is read for its processes, their storms are followed */
#define BUDGET_BLOCKED_NS \
	UINT64_C(10000000) /* of each second, its JVMs may block the reader (their pages are read from a disk) */
#define BUDGET_BLOCKED_AHEAD UINT64_C(200000000) /* at once; less than a hang */
#define BUDGET_AHEAD (UINT64_C(512) << 10)       /* bytes of samples */

enum over { OVER_SAMPLES, OVER_MAPPINGS, OVER_READS, OVER_FILES, OVER_JVMS, OVER_TABLES, OVERS };

struct budgets;

/* Bytes of samples, 0: no limit. each: of one sample, on average; what a tenant does not use it may use later, up to
 * BUDGET_AHEAD. per_second: of all samples of a tenant, up to ten seconds' worth at once. */
struct budgets_limits {
	uint64_t each, per_second;
};

/* What stacks as deep as those of real programs need. A copy of a stack holds a frame of 48 bytes, which is an address
 * of 8 bytes in the window, for each 6 of its bytes; a kernel's callchain has up to 127 addresses. Events that are
 * counted, and times off the CPU, come as often as they happen. per_second 0: what all CPUs need. */
struct budgets_limits budgets_limits(const struct chunk_event *event, size_t n, uint32_t stack_bytes, uint64_t cpus,
				     uint64_t per_second);

struct budgets *budgets_new(struct budgets_limits limits);
void budgets_free(struct budgets *budgets);
struct tenants *budgets_tenants(struct budgets *budgets);

/* Counts what was left out for a tenant in this window. budgets: NULL does nothing. */
void budgets_over(struct budgets *budgets, struct tenant tenant, enum over what, uint64_t n);

/* Charges CPU time for /proc or records of mappings. */
void budgets_charge_proc(struct budgets *budgets, struct tenant tenant, uint64_t ns, uint64_t now);
void budgets_credit_proc(struct budgets *budgets, struct tenant tenant, uint64_t ns); /* that was charged in advance */

/* Takes bytes of a sample. False: over budget. */
bool budgets_sample(struct budgets *budgets, struct tenant tenant, uint64_t bytes, uint64_t now);

/* Is there room for a sample of so many bytes? If not, its stack need not be walked: budgets_skip counts it as over
 * budget. */
bool budgets_has(struct budgets *budgets, struct tenant tenant, uint64_t bytes, uint64_t now);
void budgets_skip(struct budgets *budgets, struct tenant tenant);

/* Takes bytes that were written for a sample that was not over budget. */
void budgets_charge(struct budgets *budgets, struct tenant tenant, uint64_t bytes, uint64_t now);

/* The window ends: its rows, those that lost most first, into a report; nothing is left out of the next one yet. */
void budgets_end(struct budgets *budgets, struct pj_tenants *report);

/* How much was left out for one; 0: nothing. */
uint64_t budgets_lost(const struct pj_tenant *row);

/* Appends the items of a window's end. */
void budgets_put(struct text *text, const struct pj_tenants *report);

/* The same sample with the callchain of one frame that it has over budget, in *out. */
const struct ring_sample *budgets_brief(const struct ring_sample *sample, uint64_t sample_type, struct text *out);

/* Adds rows of `more` to those of sum. */
void budgets_add(struct pj_tenants *sum, const struct pj_tenants *more);

/* "over budget: user 1000 1,234 samples, 3 mappings; ..." with the first `most` of them; nothing if nothing was left
 * out. */
void budgets_text(struct text *text, const struct pj_tenants *report, size_t max);

#endif
