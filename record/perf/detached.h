/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detached.h - finds CPUs whose perf events the kernel has detached, although the CPU is online.
 *
 * When a CPU goes offline, Linux removes all events that are bound to this CPU, and does not add them again when the
 * CPU returns. A suspend takes all CPUs but one offline. The descriptors stay valid and read() succeeds, but the events
 * write no more records. A comparison of the sets of online CPUs does not show this if the CPU has returned before the
 * second look. But the time for which such an event is enabled stands still (seen with Linux 6.1: 1,061,492,956 ns
 * before and after the CPU's return, while the event of another CPU went on).
 */
#ifndef PJ_DETACHED_H
#define PJ_DETACHED_H

#include "common/base.h"

#include <linux/perf_event.h>

/* bit of read_format with which events of detached_add must be opened */
#define DETACHED_FORMAT ((uint64_t)PERF_FORMAT_TOTAL_TIME_ENABLED)

/* All functions but detached_add accept NULL, as for a recording whose events follow threads. */
struct detached;

struct detached *detached_new(void);
/* Frees the struct and closes no descriptor. */
void detached_free(struct detached *detached);

/* Adds an event of a CPU, or replaces the CPU's earlier event. The caller keeps fd open until detached_remove. */
void detached_add(struct detached *detached, uint32_t cpu, int fd);
void detached_remove(struct detached *detached, uint32_t cpu);

/* Starts the observation, when the caller has enabled the events. */
void detached_start(struct detached *detached);

/* Returns true if the machine was suspended since the last call of detached_find or detached_start. Cheap: reads two
 * clocks. */
bool detached_suspended(const struct detached *detached);

/* Finds the CPUs whose event is detached, and returns their number; detached_has then returns true for each of them,
 * until the next call. If a CPU went offline in the last 1/64 of the time since the previous call (31 ms of 2 s), this
 * call may overlook it, and the next one finds it; after a suspend this call finds all. Reads one event of each CPU,
 * which interrupts that CPU; waits 20 ms if a CPU is suspected. Returns 0 before detached_start. */
size_t detached_find(struct detached *detached);
bool detached_has(const struct detached *detached, uint32_t cpu);

#endif
