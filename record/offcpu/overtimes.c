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
	struct row *row; /* by time of the first sample */
	uint32_t n, cap;
	uint32_t bucket[BUCKETS]; /* number of a row, from 1; open addressing */
	struct tenant_rows {
		struct tenant of;
		uint32_t n;       /* rows; 0: free */
		uint32_t last[2]; /* number of the last row of each event, by the lowest bit of its number; 0: none */
	} tenant[TENANT_BUCKETS]; /* open addressing */
	uint32_t tenants;
};

struct overtimes *overtimes_new(void)
{
	return mem_alloc(sizeof(struct overtimes), 1);
}

void overtimes_free(struct overtimes *o)
{
	if (o)
		free(o->row);
	free(o);
}

static bool overtimes_is_of(const struct row *row, struct tenant of, const struct ring_sample *r, uint64_t cgroup)
{
	return row->sample.pid == r->pid && row->sample.tid == r->tid && row->sample.event == r->event &&
	       row->cgroup == cgroup && tenant_same(row->of, of);
}

static uint32_t *overtimes_bucket_of(struct overtimes *o, struct tenant of, const struct ring_sample *r,
				     uint64_t cgroup)
{
	size_t i = hash_pair((uint64_t)r->pid << 32 | r->tid, cgroup ^ r->event) & (BUCKETS - 1);

	while (o->bucket[i] && !overtimes_is_of(&o->row[o->bucket[i] - 1], of, r, cgroup))
		i = (i + 1) & (BUCKETS - 1);
	return &o->bucket[i];
}

static struct tenant_rows *overtimes_rows_of(struct overtimes *o, struct tenant of)
{
	size_t i = hash_pair(of.key, of.kind) & (TENANT_BUCKETS - 1);

	while (o->tenant[i].n && !tenant_same(o->tenant[i].of, of))
		i = (i + 1) & (TENANT_BUCKETS - 1);
	return &o->tenant[i];
}

static void add_period(struct row *row, uint64_t ns)
{
	row->sample.period = row->sample.period + ns < ns ? UINT64_MAX : row->sample.period + ns;
}

static struct row *new_row(struct overtimes *o)
{
	if (o->n == o->cap) {
		o->cap = o->cap ? 2 * o->cap : 64;
		o->row = mem_grow(o->row, sizeof(*o->row), o->cap);
	}
	return &o->row[o->n++];
}

bool overtimes_add(struct overtimes *o, struct tenant of, const struct ring_sample *r, uint64_t cgroup)
{
	uint32_t *bucket = overtimes_bucket_of(o, of, r, cgroup), *last;
	struct tenant_rows *rows = overtimes_rows_of(o, of);
	struct row *row;

	last = &rows->last[r->event & 1];
	if (*bucket || (rows->n >= OVERTIMES_ROWS && *last)) {
		add_period(&o->row[(*bucket ? *bucket : *last) - 1], r->period);
		return true;
	}
	if (o->n == OVERTIMES_MAX || o->tenants == TENANT_BUCKETS / 2 || r->head.size > SAMPLE_MAX)
		return false;
	row = new_row(o);
	*row = (struct row){ .of = of, .cgroup = cgroup };
	memcpy(row->bytes, r, r->head.size);
	*bucket = o->n;
	o->tenants += rows->n == 0;
	rows->of = of;
	rows->n++;
	*last = o->n;
	return true;
}

void overtimes_take(struct overtimes *o, void (*emit)(void *to, const struct ring_sample *r), void *to)
{
	if (!o || o->n == 0)
		return;
	for (uint32_t i = 0; i < o->n; i++)
		emit(to, &o->row[i].sample);
	o->n = o->tenants = 0;
	memset(o->bucket, 0, sizeof(o->bucket));
	memset(o->tenant, 0, sizeof(o->tenant));
}
