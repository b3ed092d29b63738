/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allowance.h - limits the costs of JVMs for pjmap -i: for each scan, each tenant, and all together.
 *
 * Each scan of a JVM has a budget of steps, memory and time (runtimes/memory/readbudget.h). The CPU time of scans and
 * the bytes that they write are charged to the JVM's tenant (common/process/tenants.h). While a tenant is over budget,
 * its JVMs are not scanned, so only timelines of that tenant are late. Memory between scans has a limit for each tenant
 * and for all, which depends on the memory of the machine: a JVM that would exceed it keeps its memory, and its new
 * code is left out. A genuine JVM stays far below all limits: the largest code cache (240 MB, 40,000 methods) costs 8
 * MB and, after the first scans, 1 % of a CPU.
 */
#ifndef PJ_ALLOWANCE_H
#define PJ_ALLOWANCE_H

#include "runtimes/memory/readbudget.h"
#include "common/process/tenants.h"

#define ALLOWANCE_REPORTED 64 /* maximum number of tenants that messages name */

struct allowance {
	struct tenants *tenants;
	/* maximum bytes of memory between scans, of one tenant and of all tenants */
	uint64_t memory_each, memory_all;
	/* tenants that a message has named already, ntold of them */
	struct tenant reported[ALLOWANCE_REPORTED];
	size_t ntold;
};

/* Sets the limits, which depend on the memory of this machine. allowance_close frees the table of tenants. */
void allowance_open(struct allowance *allowance);
void allowance_close(struct allowance *allowance);

/* Returns false if the tenant has no CPU time or no bytes left to write at time now (ns of clock_now). Warns about the
 * tenant the first time. */
bool allowance_may(struct allowance *allowance, struct tenant tenant, uint64_t now);

/* Maximum bytes of one JVM's data between scans, on any machine: eight times that of the largest genuine code cache,
 * and less than the memory limit of the helper process. */
#define ALLOWANCE_MEMORY_MAX ((uint64_t)64 << 20)

/* Budget in steps of the first scan of a JVM, and the maximum after increases. The first scan of 6,000 methods takes 1
 * M steps, a later one 80,000. Code that a scan could not read for lack of steps is read by the next scan. */
#define ALLOWANCE_FIRST_STEPS (512u << 10)
#define ALLOWANCE_STEPS_MAX (4u << 20)

/* Returns the budget of one scan with that many steps, which starts at now. last: pjmap ends, so the deadline
 * is short. */
struct readbudget allowance_look(uint64_t steps, bool last, uint64_t now);

/* Charges a tenant `ns` of CPU time and `written` bytes. */
void allowance_charge(struct allowance *allowance, struct tenant tenant, uint64_t ns, uint64_t written, uint64_t now);

/* Returns the number of bytes by which a JVM's data may grow, if its tenant holds `mine` bytes and all tenants hold
 * `all` bytes. */
uint64_t allowance_memory(const struct allowance *allowance, uint64_t mine, uint64_t all);

/* Warns that a tenant lacks `what`, a noun such as "memory"; at most once for each tenant. */
void allowance_report(struct allowance *allowance, struct tenant tenant, const char *what);

/* Returns the budget of --once and --list for one JVM: 10 s and 128 MB. */
struct readbudget allowance_once(void);

/* Raises the limit of open files to its maximum. Returns the number of JVMs that may be followed for one tenant; for
 * all tenants together it is four times as many. Each JVM needs four open files. */
size_t allowance_files(void);

#endif
