/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allowance.h - what JVMs may cost pjmap -i: per look, per tenant, and all together.
 *
 * A look at a JVM has a budget of steps, memory and time (runtimes/hotspot/readbudget.h). The CPU time that looks took
 * and the bytes that they wrote are charged to the tenant of the JVM (common/process/tenants.h): while it is in debt,
 * its JVMs are not looked at, so timelines of that tenant alone come later. Memory between looks has a limit per tenant
 * and for all, by the size of the machine: a JVM that would exceed it keeps what it has, and new code of it is left
 * out. A genuine JVM stays far below each of these: the largest code cache (240 MB, 40,000 methods) costs 8 MB and,
 * once it is known, 1 % of a CPU.
 */
#ifndef PJ_ALLOWANCE_H
#define PJ_ALLOWANCE_H

#include "runtimes/hotspot/readbudget.h"
#include "common/process/tenants.h"

#define ALLOWANCE_REPORTED 64 /* tenants that are named in a message */

struct allowance {
	struct tenants *tenants;
	uint64_t memory_each, memory_all; /* bytes: of a tenant, of all */
	struct tenant reported[ALLOWANCE_REPORTED];
	size_t ntold;
};

void allowance_open(struct allowance *allowance);
void allowance_close(struct allowance *allowance);

/* False: the tenant has used up its CPU time or its bytes for now. The first time, it is named. */
bool allowance_may(struct allowance *allowance, struct tenant tenant, uint64_t now);

/* Bytes that one JVM may take, on any machine: eight times what the largest code cache of a genuine one does, and less
 * than the limit of its helper process. */
#define ALLOWANCE_MEMORY_MAX ((uint64_t)64 << 20)

/* Steps of the first look at a JVM, and at most. A first look at 6,000 methods takes 1 M, a later one 80,000; what does
 * not fit is read by the next one. */
#define ALLOWANCE_FIRST_STEPS (512u << 10)
#define ALLOWANCE_STEPS_MAX (4u << 20)

/* The budget of a look of so many steps. last: the tool ends, so it is short. */
struct readbudget allowance_look(uint64_t steps, bool last, uint64_t now);

/* A look took so many ns of CPU time, and bytes were written. */
void allowance_charge(struct allowance *allowance, struct tenant tenant, uint64_t ns, uint64_t written, uint64_t now);

/* Memory that one more JVM of a tenant may take: its tenant holds `mine` bytes, all hold `all`. */
uint64_t allowance_memory(const struct allowance *allowance, uint64_t mine, uint64_t all);

/* A tenant was refused `what`: it is named once. */
void allowance_report(struct allowance *allowance, struct tenant tenant, const char *what);

/* What --once and --list spend on one JVM: some seconds, and 128 MB. */
struct readbudget allowance_once(void);

/* How many JVMs of a tenant are followed, of all four times as many: each has four open files, of which as many are
 * allowed from now on as may be. */
size_t allowance_files(void);

#endif
