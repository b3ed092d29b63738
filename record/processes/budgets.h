/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budgets.h - budgets of the recorder for each tenant (tenants.h), and counts of the detail that a window lacks because
 * of these budgets.
 *
 * A tenant over budget loses detail, never weight. A sample keeps its time, thread and period, but its callchain
 * becomes one frame that readers show as "[over budget]". Addresses in a mapping that is left out have no name. A
 * process that is not read from /proc keeps its old names. Code of a JVM that is not read, or of a file whose unwind
 * tables are not in the cache yet, is unwound by frame pointers. Other tenants are not affected. The losses of each
 * tenant are in each window (PJ_ITEM_TENANT), in the summary sentence, and in DIR/pjrecord.prom.
 */
#ifndef PJ_BUDGETS_H
#define PJ_BUDGETS_H

#include "record/perf/chunk.h"
#include "record/perf/rings.h"
#include "common/process/tenants.h"

/* The following constants are budgets. Real programs stay far below them: see ARCHITECTURE.md, "Budgets". */
/* BUDGET_MEMORY: limit for the bytes of mappings that one tenant holds; further mappings are left out. The first
 * MAPPINGS_FREE bytes of each process are not charged. BUDGET_MEMORY_TOTAL: limit for all tenants together, in
 * bytes. */
#define BUDGET_MEMORY (UINT64_C(8) << 20)
#define BUDGET_MEMORY_TOTAL (UINT64_C(16) << 20)
/* BUDGET_CPU_NS: CPU time for all work for one tenant, in ns per second: reading JVMs, unwind tables and /proc, and
 * applying mappings. BUDGET_CPU_AHEAD: burst in ns; the unwind tables of a browser take 0.2 s. */
#define BUDGET_CPU_NS UINT64_C(50000000)
#define BUDGET_CPU_AHEAD UINT64_C(2000000000)
/* Burst of CPU time for reading the JVMs of one tenant, in ns; the rate is BUDGET_CPU_NS. The start of a JVM takes 30
 * ms; a JVM on 128 CPUs takes 15 ms per second. */
#define BUDGET_JVM_AHEAD UINT64_C(250000000)
/* CPU time for reading /proc, and for storms of mapping, name and namespace records, of one tenant, in ns per second; a
 * part of BUDGET_CPU_NS. */
#define BUDGET_PROC_NS UINT64_C(20000000)
/* BUDGET_BLOCKED_NS: time for which the JVMs of one tenant may block the helper process that reads them, as while a
 * disk reads their pages, in ns per second. BUDGET_BLOCKED_AHEAD: burst in ns, shorter than the time after which a
 * helper process is replaced as hung. */
#define BUDGET_BLOCKED_NS UINT64_C(10000000)
#define BUDGET_BLOCKED_AHEAD UINT64_C(200000000)
/* maximum of the unused budget for samples (budgets_limits.each) that one tenant saves, in bytes */
#define BUDGET_AHEAD (UINT64_C(512) << 10)

/* Kinds of detail that a tenant over budget loses, in this order: callchains of samples; mappings and names; readings
 * of /proc; stored files; readings of JVMs; unwind tables. OVERS is their number. */
enum over { OVER_SAMPLES, OVER_MAPPINGS, OVER_READS, OVER_FILES, OVER_JVMS, OVER_TABLES, OVERS };

struct budgets;

/* Limits for the sample bytes of one tenant; 0: no limit. each: budget in bytes that each sample adds; the tenant saves
 * the unused part, up to BUDGET_AHEAD. per_second: bytes per second for all samples, with a burst of 10 times that. */
struct budgets_limits {
	uint64_t each, per_second;
};

/* Returns limits that suffice for stacks as deep as those of real programs. event[0..n): the sampled events.
 * stack_bytes: size of a stack copy. per_second: the requested limit; 0: as much as the samples of all CPUs need. A
 * frame is assumed to have 48 bytes of a stack copy, which give one address of 8 bytes in the window; the kernel's
 * callchain has up to 127 addresses more. In per_second, an event with a fixed period counts as 16 MB per second on
 * each CPU, because its number of samples is unknown. */
struct budgets_limits budgets_limits(const struct chunk_event *event, size_t n, uint32_t stack_bytes, uint64_t cpus,
				     uint64_t per_second);

/* Returns budgets of which no tenant has used anything yet, for use by one thread. The caller frees them with
 * budgets_free. */
struct budgets *budgets_new(struct budgets_limits limits);
void budgets_free(struct budgets *budgets);
/* Returns the table of tenants, which lives as long as `budgets`. */
struct tenants *budgets_tenants(struct budgets *budgets);

/* Adds n losses of the kind `what` to the row of a tenant in the current window. Does nothing if budgets is NULL. */
void budgets_over(struct budgets *budgets, struct tenant tenant, enum over what, uint64_t n);

/* Charges a tenant `ns` of CPU time for reading /proc or for applying mapping records. now: CLOCK_MONOTONIC in ns. */
void budgets_charge_proc(struct budgets *budgets, struct tenant tenant, uint64_t ns, uint64_t now);
/* Returns CPU time to a tenant: `ns` of the time that budgets_charge_proc charged in advance and the reading did not
 * use. */
void budgets_credit_proc(struct budgets *budgets, struct tenant tenant, uint64_t ns);

/* Charges a sample of `bytes` bytes to a tenant and returns true. If the tenant is over budget, counts the sample as a
 * loss and returns false. now: CLOCK_MONOTONIC in ns. */
bool budgets_sample(struct budgets *budgets, struct tenant tenant, uint64_t bytes, uint64_t now);

/* budgets_has returns true if the tenant's budget suffices for a sample of `bytes` bytes. If it returns false, the
 * caller does not unwind the stack, and calls budgets_skip, which counts the sample as a loss. */
bool budgets_has(struct budgets *budgets, struct tenant tenant, uint64_t bytes, uint64_t now);
void budgets_skip(struct budgets *budgets, struct tenant tenant);

/* Charges a tenant the bytes that the window gets in addition to a sample: those of records of names and mappings. */
void budgets_charge(struct budgets *budgets, struct tenant tenant, uint64_t bytes, uint64_t now);

/* Ends the window: moves the rows of losses to *report, sorted by number of losses in descending order. The next window
 * starts without rows. */
void budgets_end(struct budgets *budgets, struct pj_tenants *report);

/* Returns the sum of the losses in a row. */
uint64_t budgets_lost(const struct pj_tenant *row);

/* Appends an item PJ_ITEM_TENANT for each row of a report to the text of FEATURE_PJ_END. */
void budgets_put(struct text *text, const struct pj_tenants *report);

/* Adds the rows of report `more` to those of report `sum`. */
void budgets_add(struct pj_tenants *sum, const struct pj_tenants *more);

/* Appends a text such as "over budget: user 1000 1,234 samples without their stacks, ...; ...", with the first `max`
 * rows and one sum of the other rows ("others"). Appends nothing if there were no losses. */
void budgets_text(struct text *text, const struct pj_tenants *report, size_t max);

#endif
