/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overtimes.h - off-CPU times of tenants that are over budget, summed by thread.
 *
 * A thread may leave the CPU a million times a second. Over budget, each off-CPU time would become a sample of one
 * frame, which still takes 100 bytes; so these samples are summed. A row holds the first sample of a thread, event and
 * cgroup; the row's period is the sum. The caller takes the rows when it flushes records, twice a second. A tenant has
 * OVERTIMES_ROWS rows; times of further threads are added to its last row of the same event. So no weight is lost, and
 * the bytes of a tenant do not depend on how often its threads wait. There are OVERTIMES_MAX rows in all: if the
 * tenants over budget use all of them, the caller takes the rows early.
 */
#ifndef PJ_OVERTIMES_H
#define PJ_OVERTIMES_H

#include "record/perf/rings.h"
#include "common/process/tenants.h"

enum { OVERTIMES_ROWS = 256, OVERTIMES_MAX = 16384 };

struct overtimes;

struct overtimes *overtimes_new(void);
void overtimes_free(struct overtimes *overtimes);

/* Adds a sample, which must have a callchain of one frame, to the row of its thread, event and cgroup. Returns false,
 * without adding the sample, if no row is free; the caller then calls overtimes_take and tries again. */
bool overtimes_add(struct overtimes *overtimes, struct tenant tenant, const struct ring_sample *sample,
		   uint64_t cgroup);

/* Calls emit with each row as a sample, then removes all rows. The timestamp of a row is the timestamp of its first
 * sample. Rows come in the order in which they were added, which is the order of their timestamps if samples were added
 * in order of time. */
void overtimes_take(struct overtimes *overtimes, void (*emit)(void *to, const struct ring_sample *sample), void *to);

#endif
