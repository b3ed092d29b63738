/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budgets.h - budgets of the recorder for each tenant (tenants.h), and counts of the detail that a window lacks.
 *
 * A tenant over budget loses detail, never weight. A sample keeps its time, thread and period, but its callchain
 * becomes one frame that readers show as "[over budget]". Addresses in a mapping that is left out have no name. A
 * process that is not read from /proc keeps its old names. Code of a JVM that is not read, or of a file without
 * unwind tables in the cache, is unwound by frame pointers. Other tenants are not affected. The losses of each
 * tenant are in each window (PJ_ITEM_TENANT), in the summary line, and in DIR/pjrecord.prom.
 */
#ifndef PJ_BUDGETS_H
#define PJ_BUDGETS_H

#include "record/perf/chunk.h"
#include "record/perf/rings.h"
#include "common/process/tenants.h"

/* Budgets of one tenant. Real programs stay far below them: see ARCHITECTURE.md, "Budgets". */
/* Bytes of mappings, beyond the first MAPPINGS_FREE bytes of each process; limit for the sum of all tenants. */
#define BUDGET_MEMORY (UINT64_C(8) << 20)
#define BUDGET_MEMORY_TOTAL (UINT64_C(16) << 20)
/* CPU time in ns per second for all work for a tenant: JVMs, unwind tables, /proc and mappings. Burst in ns: the unwind
 * tables of a browser take 0.2 s. */
#define BUDGET_CPU_NS UINT64_C(50000000)
#define BUDGET_CPU_AHEAD UINT64_C(2000000000)
/* Part of the burst for JVMs, in ns: the start of a JVM takes 30 ms, one on 128 CPUs 15 ms/s. */
#define BUDGET_JVM_AHEAD UINT64_C(250000000)
/* Part for reading /proc, and for floods of mapping, name and namespace records, in ns per second. */
#define BUDGET_PROC_NS UINT64_C(20000000)
/* Time for which the JVMs of a tenant may block the reader while their pages are read from a disk, in ns per second;
 * burst in ns, shorter than the time after which a helper hangs. */
#define BUDGET_BLOCKED_NS UINT64_C(10000000)
#define BUDGET_BLOCKED_AHEAD UINT64_C(200000000)
#define BUDGET_AHEAD (UINT64_C(512) << 10) /* bytes of samples, the burst */

/* Kinds of lost detail: callchains of samples, mappings, readings of /proc, stored files, readings of JVMs, unwind
 * tables. */
enum over { OVER_SAMPLES, OVER_MAPPINGS, OVER_READS, OVER_FILES, OVER_JVMS, OVER_TABLES, OVERS };

struct budgets;

/* Limits of sample bytes of one tenant; 0 is no limit. `each` is the average size of one sample; a tenant saves the
 * bytes that it does not use up to BUDGET_AHEAD. `per_second` limits all samples of a tenant, with a burst of ten
 * seconds' worth. */
struct budgets_limits {
	uint64_t each, per_second;
};

/* Returns limits that suffice for stacks as deep as those of real programs. Each 6 bytes of a stack copy count as
 * one address of 8 bytes in the window, since a frame has about 48 bytes; a callchain of the kernel has up to 127
 * addresses. Counted events and off-CPU times are limited by bytes per second only, because they come as often as
 * they occur. per_second 0 selects what all CPUs need. */
struct budgets_limits budgets_limits(const struct chunk_event *event, size_t n, uint32_t stack_bytes, uint64_t cpus,
				     uint64_t per_second);

/* Returns full budgets for all tenants, for use by one thread. */
struct budgets *budgets_new(struct budgets_limits limits);
void budgets_free(struct budgets *budgets);
/* Returns the table of tenants, which lives as long as budgets. */
struct tenants *budgets_tenants(struct budgets *budgets);

/* Counts n losses of one kind for a tenant in this window. Does nothing if budgets is NULL. */
void budgets_over(struct budgets *budgets, struct tenant tenant, enum over what, uint64_t n);

/* Charges ns of CPU time for reading /proc or for records of mappings. now is ns of CLOCK_MONOTONIC. */
void budgets_charge_proc(struct budgets *budgets, struct tenant tenant, uint64_t ns, uint64_t now);
/* Returns ns of CPU time that was charged in advance and not used. */
void budgets_credit_proc(struct budgets *budgets, struct tenant tenant, uint64_t ns);

/* Takes the bytes of a sample from the budget. Returns false, and counts the loss, if the tenant is over budget. */
bool budgets_sample(struct budgets *budgets, struct tenant tenant, uint64_t bytes, uint64_t now);

/* Returns true if the budget suffices for a sample of so many bytes. If not, its stack need not be unwound:
 * budgets_skip counts it as over budget. */
bool budgets_has(struct budgets *budgets, struct tenant tenant, uint64_t bytes, uint64_t now);
void budgets_skip(struct budgets *budgets, struct tenant tenant);

/* Charges bytes that were written for a sample within budget, such as names and mappings. */
void budgets_charge(struct budgets *budgets, struct tenant tenant, uint64_t bytes, uint64_t now);

/* Ends the window: moves its rows to a report, those with the largest losses first, and starts the next window with
 * none. */
void budgets_end(struct budgets *budgets, struct pj_tenants *report);

/* Returns the number of all losses of a row; 0 for none. */
uint64_t budgets_lost(const struct pj_tenant *row);

/* Appends the items with the rows of a report to the text of a window's end. */
void budgets_put(struct text *text, const struct pj_tenants *report);

/* Composes in *out the same sample with the callchain of one frame that it has over budget. Returns it; it is valid
 * until *out changes. */
const struct ring_sample *budgets_brief(const struct ring_sample *sample, uint64_t sample_type, struct text *out);

/* Adds the rows of `more` to those of `sum`. */
void budgets_add(struct pj_tenants *sum, const struct pj_tenants *more);

/* Appends a text such as "over budget: user 1000 1,234 samples, 3 mappings; ..." with the first `max` rows; nothing
 * if there were no losses. */
void budgets_text(struct text *text, const struct pj_tenants *report, size_t max);

#endif
