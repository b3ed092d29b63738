/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/overtimes.h"

#include "common/arena.h"
#include "common/hash.h"

#include <stdlib.h>

enum { SAMPLE_MAX = 128, BUCKETS = 2 * OVERTIMES_MAX, TENANT_BUCKETS = 1024 };

struct row {
	struct tenant of;
	uint64_t cgroup;
	union {
		struct ring_sample sample;
		char bytes[SAMPLE_MAX];
	};
};

struct overtimes {
	struct row *row; /* rows, in the order in which they were added */
	uint32_t n, cap;
	/* hash table of rows, with open addressing: index in `row`, counted from 1; 0: free entry */
	uint32_t bucket[BUCKETS];
	struct tenant_rows {
		struct tenant of;
		uint32_t n; /* number of rows of this tenant; 0: free entry */
		/* for each event of off-CPU samples, by event modulo 3: index in `row`, counted from 1, of the tenant's
		 * last row of that event; 0: no row */
		uint32_t last[3];
	} tenant[TENANT_BUCKETS]; /* hash table of tenants, with open addressing */
	uint32_t tenants;
};

struct overtimes *overtimes_new(void)
{
	return mem_alloc(sizeof(struct overtimes), 1);
}

void overtimes_free(struct overtimes *overtimes)
{
	if (overtimes)
		free(overtimes->row);
	free(overtimes);
}

static bool overtimes_is_of(const struct row *row, struct tenant tenant, const struct ring_sample *sample,
			    uint64_t cgroup)
{
	return row->sample.pid == sample->pid && row->sample.tid == sample->tid && row->sample.event == sample->event &&
	       row->cgroup == cgroup && tenant_same(row->of, tenant);
}

static uint32_t *overtimes_bucket_of(struct overtimes *overtimes, struct tenant tenant,
				     const struct ring_sample *sample, uint64_t cgroup)
{
	size_t i = hash_pair((uint64_t)sample->pid << 32 | sample->tid, cgroup ^ sample->event) & (BUCKETS - 1);

	while (overtimes->bucket[i] &&
	       !overtimes_is_of(&overtimes->row[overtimes->bucket[i] - 1], tenant, sample, cgroup))
		i = (i + 1) & (BUCKETS - 1);
	return &overtimes->bucket[i];
}

static struct tenant_rows *overtimes_rows_of(struct overtimes *overtimes, struct tenant tenant)
{
	size_t i = hash_pair(tenant.key, tenant.kind) & (TENANT_BUCKETS - 1);

	while (overtimes->tenant[i].n && !tenant_same(overtimes->tenant[i].of, tenant))
		i = (i + 1) & (TENANT_BUCKETS - 1);
	return &overtimes->tenant[i];
}

static void add_period(struct row *row, uint64_t ns)
{
	row->sample.period = row->sample.period + ns < ns ? UINT64_MAX : row->sample.period + ns;
}

static struct row *new_row(struct overtimes *overtimes)
{
	if (overtimes->n == overtimes->cap) {
		overtimes->cap = overtimes->cap ? 2 * overtimes->cap : 64;
		overtimes->row = mem_grow(overtimes->row, sizeof(*overtimes->row), overtimes->cap);
	}
	return &overtimes->row[overtimes->n++];
}

bool overtimes_add(struct overtimes *overtimes, struct tenant tenant, const struct ring_sample *sample, uint64_t cgroup)
{
	uint32_t *bucket = overtimes_bucket_of(overtimes, tenant, sample, cgroup), *last;
	struct tenant_rows *rows = overtimes_rows_of(overtimes, tenant);
	struct row *row;

	last = &rows->last[sample->event % countof(rows->last)];
	if (*bucket || (rows->n >= OVERTIMES_ROWS && *last)) {
		add_period(&overtimes->row[(*bucket ? *bucket : *last) - 1], sample->period);
		return true;
	}
	if (overtimes->n == OVERTIMES_MAX || overtimes->tenants == TENANT_BUCKETS / 2 || sample->head.size > SAMPLE_MAX)
		return false;
	row = new_row(overtimes);
	*row = (struct row){ .of = tenant, .cgroup = cgroup };
	memcpy(row->bytes, sample, sample->head.size);
	*bucket = overtimes->n;
	overtimes->tenants += rows->n == 0;
	rows->of = tenant;
	rows->n++;
	*last = overtimes->n;
	return true;
}

void overtimes_take(struct overtimes *overtimes, void (*emit)(void *to, const struct ring_sample *sample), void *to)
{
	if (!overtimes || overtimes->n == 0)
		return;
	for (uint32_t i = 0; i < overtimes->n; i++)
		emit(to, &overtimes->row[i].sample);
	overtimes->n = overtimes->tenants = 0;
	memset(overtimes->bucket, 0, sizeof(overtimes->bucket));
	memset(overtimes->tenant, 0, sizeof(overtimes->tenant));
}
