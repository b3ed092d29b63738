/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/saverbudget.h"

#define CPU_BURST (20 * SAVERBUDGET_CPU_NS)

void saverbudget_open(struct saverbudget *saverbudget, uint64_t max_bytes, struct saverbudget_over *over)
{
	struct tenant_limits limits = {
		.flow[TENANT_CPU_NS] = { SAVERBUDGET_CPU_NS, CPU_BURST },
		.flow[TENANT_DISK_BYTES] = { SAVERBUDGET_BYTES,
					     max_bytes / 2 > SAVERBUDGET_BYTES ? max_bytes / 2 : SAVERBUDGET_BYTES },
	};

	*saverbudget = (struct saverbudget){ .tenants = tenants_new(&limits), .over = over };
}

void saverbudget_close(struct saverbudget *saverbudget)
{
	if (saverbudget->tenants)
		tenants_free(saverbudget->tenants);
	saverbudget->tenants = NULL;
}

bool saverbudget_may(struct saverbudget *saverbudget, struct tenant tenant, uint64_t now)
{
	return !saverbudget->tenants || (tenants_may(saverbudget->tenants, tenant, TENANT_CPU_NS, now) &&
					 tenants_may(saverbudget->tenants, tenant, TENANT_DISK_BYTES, now));
}

void saverbudget_charge(struct saverbudget *saverbudget, struct tenant tenant, uint64_t bytes, uint64_t cpu_ns,
			uint64_t now)
{
	if (!saverbudget->tenants)
		return;
	tenants_charge(saverbudget->tenants, tenant, TENANT_CPU_NS, cpu_ns, now);
	tenants_charge(saverbudget->tenants, tenant, TENANT_DISK_BYTES, bytes, now);
}

void saverbudget_count(struct saverbudget *saverbudget, struct tenant tenant, uint64_t files)
{
	struct saverbudget_over *over = saverbudget->over;
	uint32_t i = 0, n = over ? atomic_load(&over->n) : 0;

	if (!over || !files)
		return;
	n = n < SAVERBUDGET_ROWS ? n : SAVERBUDGET_ROWS;
	while (i < n && (over->row[i].kind != tenant.kind || over->row[i].key != tenant.key))
		i++;
	if (i == SAVERBUDGET_ROWS || tenant.kind == TENANT_UNKNOWN) {
		atomic_fetch_add(&over->others, files);
		return;
	}
	if (i == n) {
		atomic_store(&over->row[i].kind, (uint32_t)tenant.kind);
		atomic_store(&over->row[i].key, tenant.key);
		atomic_store(&over->n, n + 1);
	}
	atomic_fetch_add(&over->row[i].files, files);
}

void saverbudget_each(const struct saverbudget_over *over, struct saverbudget_counts *before,
		      void (*f)(void *arg, struct tenant tenant, uint64_t files), void *arg)
{
	uint32_t n = atomic_load(&over->n);
	uint64_t others = atomic_load(&over->others);

	for (uint32_t i = 0; i < n && i < SAVERBUDGET_ROWS; i++) {
		uint32_t kind = atomic_load(&over->row[i].kind);
		uint64_t files = atomic_load(&over->row[i].files);

		if (files > before->row[i] && kind <= TENANT_NAMESPACE)
			f(arg, (struct tenant){ (enum tenant_kind)kind, atomic_load(&over->row[i].key) },
			  files - before->row[i]);
		before->row[i] = files;
	}
	if (others > before->others)
		f(arg, (struct tenant){ TENANT_UNKNOWN, 0 }, others - before->others);
	before->others = others;
}
