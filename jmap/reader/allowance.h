/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allowance.h - limits what JVMs cost pjmap -i: per scan, per tenant and in total.
 *
 * Each scan of a JVM has a budget of steps, memory and time (runtimes/memory/readbudget.h). The CPU time of scans and
 * the bytes that they write are charged to the JVM's tenant (common/process/tenants.h). While a tenant is over budget,
 * its JVMs are not scanned, so only timelines of that tenant are late. Memory that helpers hold between scans has a
 * limit per tenant and a limit in total, which depend on the memory of the machine. If a JVM's new code would exceed a
 * limit, it is left out; the data about earlier code stays. A genuine JVM stays far below all limits: the largest code
 * cache (240 MB, 40,000 methods) costs 8 MB and, after the first scans, 1 % of a CPU.
 */
#ifndef PJ_ALLOWANCE_H
#define PJ_ALLOWANCE_H

#include "runtimes/memory/readbudget.h"
#include "common/process/tenants.h"

/* maximum number of tenants about which pjmap warns; it does not warn about further ones */
#define ALLOWANCE_REPORTED 64

struct allowance {
	/* budgets of all tenants: CPU time, bytes written, bytes of maps */
	struct tenants *tenants;
	/* limits for memory held between scans, in bytes: memory_each per tenant, memory_all for all tenants */
	uint64_t memory_each, memory_all;
	/* ntold tenants about which pjmap has warned */
	struct tenant reported[ALLOWANCE_REPORTED];
	size_t ntold;
};

/* Sets all limits and creates the budgets, which the caller frees by allowance_close. The limits of memory depend on
 * the memory of this machine. */
void allowance_open(struct allowance *allowance);
void allowance_close(struct allowance *allowance);

/* Returns true if the tenant's JVMs may be scanned at time `now` (ns of clock_now). Returns false if the tenant has
 * used up its budget of CPU time or of written bytes; warns about the tenant the first time. */
bool allowance_may(struct allowance *allowance, struct tenant tenant, uint64_t now);

/* Limit in bytes for one JVM's data between scans, on any machine: eight times the data of the largest genuine code
 * cache, and less than the memory limit of the helper process. */
#define ALLOWANCE_MEMORY_MAX ((uint64_t)64 << 20)

/* step budget of a JVM's first scan. The first scan of 6,000 methods takes 1 M steps, a later one 80,000. Code that a
 * scan cannot read for lack of steps is left to the next scan. */
#define ALLOWANCE_FIRST_STEPS (512u << 10)
/* maximum step budget of a scan; a budget that is too small to list all code blobs is doubled, up to this maximum */
#define ALLOWANCE_STEPS_MAX (4u << 20)

/* Returns the budget of one scan that starts at time `now` and may take `steps` steps. last: true if pjmap ends, so
 * that the deadline is short. */
struct readbudget allowance_look(uint64_t steps, bool last, uint64_t now);

/* Charges a tenant for `ns` ns of CPU time and `written` bytes at time `now`. */
void allowance_charge(struct allowance *allowance, struct tenant tenant, uint64_t ns, uint64_t written, uint64_t now);

/* Returns the number of bytes by which one JVM's data may grow. mine: bytes that its tenant holds; all: bytes that all
 * tenants hold. */
uint64_t allowance_memory(const struct allowance *allowance, uint64_t mine, uint64_t all);

/* Warns that a tenant is over budget. Warns at most once per tenant. what: noun for the missing resource, such as
 * "memory". */
void allowance_report(struct allowance *allowance, struct tenant tenant, const char *what);

/* Returns the budget of --once and --list for one JVM: 10 s, 128 MB and 32 M steps. */
struct readbudget allowance_once(void);

/* Raises this process's limit of open files to its maximum. Returns the number of JVMs of one tenant that pjmap may
 * follow; the number for all tenants together is four times as large. Each JVM needs four open files. */
size_t allowance_files(void);

#endif
