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

/* For each tenant. A starting JIT writes about 10 MB in its first seconds; half of the disk limit may be written at
 * once.
 */
#define SAVERBUDGET_BYTES (UINT64_C(8) << 20) /* a second */
#define SAVERBUDGET_CPU_NS UINT64_C(50000000) /* of each second, for copies */

/* Omitted and removed files, by tenant; one writer. */
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
	struct saverbudget_over *over; /* NULL: nothing is counted */
};

/* max_bytes: the disk limit of all tenants together. */
void saverbudget_open(struct saverbudget *saverbudget, uint64_t max_bytes, struct saverbudget_over *over);
void saverbudget_close(struct saverbudget *saverbudget);

/* Returns false while the tenant has used up its bytes or CPU time. */
bool saverbudget_may(struct saverbudget *saverbudget, struct tenant tenant, uint64_t now);

/* Charges bytes and CPU time to a tenant. */
void saverbudget_charge(struct saverbudget *saverbudget, struct tenant tenant, uint64_t bytes, uint64_t cpu_ns,
			uint64_t now);

/* Counts files of a tenant that were omitted, or removed because the tenant was over its share. */
void saverbudget_count(struct saverbudget *saverbudget, struct tenant tenant, uint64_t files);

/* For the recorder: calls f for each tenant with new counts since the last call, whose counts are in `before`. */
struct saverbudget_counts {
	uint64_t row[SAVERBUDGET_ROWS], others;
};
void saverbudget_each(const struct saverbudget_over *over, struct saverbudget_counts *before,
		      void (*f)(void *arg, struct tenant tenant, uint64_t files), void *arg);

#endif
