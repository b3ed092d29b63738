/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverbudget.h - budgets of one tenant in the symbol saver: bytes written, and CPU time for copies of JIT files.
 *
 * Over its budget, maps and jitdumps of a tenant are copied later; those not copied when their process ends are
 * omitted, as are its binaries. Both are counted by tenant. Each tenant also has a share of the disk: see saversweep.h.
 * The counts are in memory shared with the recorder (saverring.h), so they outlive a symbol saver; the recorder checks
 * them.
 */
#ifndef PJ_SAVERBUDGET_H
#define PJ_SAVERBUDGET_H

#include "common/process/tenants.h"

#include <stdatomic.h>

/* Budgets of one tenant. A starting JIT writes about 10 MB in its first seconds; the burst of bytes is half of the
 * limit on disk. */
#define SAVERBUDGET_BYTES (UINT64_C(8) << 20) /* bytes per second that one tenant may write */
#define SAVERBUDGET_CPU_NS UINT64_C(50000000) /* CPU time in ns per second for copies of one tenant's JIT files */

/* Number of files by tenant that were omitted, or removed because the tenant was over its share. The symbol saver
 * writes them, the recorder reads them. */
enum { SAVERBUDGET_ROWS = 16 };
struct saverbudget_over {
	_Atomic uint32_t n;
	struct saverbudget_row {
		_Atomic uint32_t kind;
		_Atomic uint64_t key, files;
	} row[SAVERBUDGET_ROWS];
	_Atomic uint64_t others;
};

struct saverbudget {
	struct tenants *tenants;
	struct saverbudget_over *over; /* receives the counts of omitted files; NULL: they are not counted */
};

/* max_bytes: limit on disk for all tenants together; half of it is the burst of one tenant. */
void saverbudget_open(struct saverbudget *saverbudget, uint64_t max_bytes, struct saverbudget_over *over);
void saverbudget_close(struct saverbudget *saverbudget);

/* Returns true if the tenant is within its budgets of bytes and CPU time at time now (ns of CLOCK_MONOTONIC). */
bool saverbudget_may(struct saverbudget *saverbudget, struct tenant tenant, uint64_t now);

/* Charges bytes and ns of CPU time to a tenant. */
void saverbudget_charge(struct saverbudget *saverbudget, struct tenant tenant, uint64_t bytes, uint64_t cpu_ns,
			uint64_t now);

/* Adds a number of files of a tenant that were omitted, or removed because the tenant was over its share. */
void saverbudget_count(struct saverbudget *saverbudget, struct tenant tenant, uint64_t files);

/* For the recorder: calls f for each tenant with files counted since the last call, with their number. `before` has the
 * counts at the last call, and receives the current ones. */
struct saverbudget_counts {
	uint64_t row[SAVERBUDGET_ROWS], others;
};
void saverbudget_each(const struct saverbudget_over *over, struct saverbudget_counts *before,
		      void (*f)(void *arg, struct tenant tenant, uint64_t files), void *arg);

#endif
