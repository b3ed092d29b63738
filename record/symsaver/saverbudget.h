/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverbudget.h - budgets of one tenant in the symbol saver: bytes written, and CPU time for copies of JIT files.
 *
 * While a tenant is over its budget, its perf maps and jitdumps are copied later. Map and jitdump that are not copied
 * by the end of their process are omitted. Binaries are omitted at once. Omitted files are counted by tenant. Each
 * tenant also has a share of the disk (saversweep.h). The counts are in memory shared with the recorder (saverring.h),
 * so they outlive a symbol saver. The recorder checks the counts before use.
 */
#ifndef PJ_SAVERBUDGET_H
#define PJ_SAVERBUDGET_H

#include "common/process/tenants.h"

#include <stdatomic.h>

/* Bytes per second that one tenant may write; over this rate its JIT files are copied later and its binaries omitted. A
 * starting JIT writes about 10 MB in its first seconds, which the burst (saverbudget_open) allows. */
#define SAVERBUDGET_BYTES (UINT64_C(8) << 20)
/* CPU time in ns per second for copies of one tenant's JIT files; over it the files are copied later */
#define SAVERBUDGET_CPU_NS UINT64_C(50000000)

/* Numbers of files, by tenant, that were omitted because of the tenant's budget, or removed because the tenant exceeded
 * its share. The symbol saver writes these counts; the recorder reads them. others: files of tenants without a row. */
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
	struct saverbudget_over *over; /* counts of omitted files; NULL: they are not counted */
};

/* Sets the budgets. max_bytes: limit on disk for all tenants together; half of it, at least SAVERBUDGET_BYTES, is the
 * burst of bytes of one tenant. over: receives the counts of omitted files. */
void saverbudget_open(struct saverbudget *saverbudget, uint64_t max_bytes, struct saverbudget_over *over);
void saverbudget_close(struct saverbudget *saverbudget);

/* Returns true if the tenant is within its budgets of bytes and CPU time at time `now` (ns of CLOCK_MONOTONIC); false
 * if one of them is used up. Always true if *saverbudget is zeroed. */
bool saverbudget_may(struct saverbudget *saverbudget, struct tenant tenant, uint64_t now);

/* Charges written bytes and CPU time (ns) to a tenant. */
void saverbudget_charge(struct saverbudget *saverbudget, struct tenant tenant, uint64_t bytes, uint64_t cpu_ns,
			uint64_t now);

/* Adds a number of files of a tenant to its count of files that were omitted, or removed because the tenant exceeded
 * its share. */
void saverbudget_count(struct saverbudget *saverbudget, struct tenant tenant, uint64_t files);

/* For the recorder. saverbudget_each calls f for each tenant whose files were counted since its last call; files:
 * number of these files. The tenant is TENANT_UNKNOWN for all tenants without a row together. *before: counts at the
 * last call, zeroed before the first one; saverbudget_each sets them to the current counts. */
struct saverbudget_counts {
	uint64_t row[SAVERBUDGET_ROWS], others;
};
void saverbudget_each(const struct saverbudget_over *over, struct saverbudget_counts *before,
		      void (*f)(void *arg, struct tenant tenant, uint64_t files), void *arg);

#endif
