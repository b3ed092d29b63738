/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverbudget.h - what one tenant may cost the keeper: bytes written, and CPU time for copies of what its JITs write.
 *
 * Over its budget a tenant's maps and jitdumps are copied later, and what is not copied when its process ends is left
 * out, as are its binaries; both are counted by tenant. Of space on the disk, each tenant has a share: see
 * saversweep.h. Counts lie in memory that the recorder reads (saverring.h), so they outlive a keeper; the recorder
 * checks what it reads there.
 */
#ifndef PJ_SAVERBUDGET_H
#define PJ_SAVERBUDGET_H

#include "common/process/tenants.h"

#include <stdatomic.h>

/* Of each tenant. A JIT that starts writes some 10 MB in its first seconds; half of the limit of the disk may come at
 * once. */
#define SAVERBUDGET_BYTES (UINT64_C(8) << 20) /* a second */
#define SAVERBUDGET_CPU_NS UINT64_C(50000000) /* of each second, for copies */

/* Files that were left out or removed, by tenant; one writer. */
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

/* max_bytes: the limit of the disk, of all tenants. */
void saverbudget_open(struct saverbudget *saverbudget, uint64_t max_bytes, struct saverbudget_over *over);
void saverbudget_close(struct saverbudget *saverbudget);

/* False: the tenant has used up its bytes or its CPU time for now. */
bool saverbudget_may(struct saverbudget *saverbudget, struct tenant tenant, uint64_t now);

void saverbudget_charge(struct saverbudget *saverbudget, struct tenant tenant, uint64_t bytes, uint64_t cpu_ns,
			uint64_t now);

/* Files of a tenant were left out, or removed as the tenant was over its share. */
void saverbudget_count(struct saverbudget *saverbudget, struct tenant tenant, uint64_t files);

/* By the recorder: calls f for each tenant with files that were counted since the last call, of which `before` holds
 * the counts. */
struct saverbudget_counts {
	uint64_t row[SAVERBUDGET_ROWS], others;
};
void saverbudget_each(const struct saverbudget_over *over, struct saverbudget_counts *before,
		      void (*f)(void *arg, struct tenant tenant, uint64_t files), void *arg);

#endif
