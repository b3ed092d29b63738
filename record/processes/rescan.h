/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rescan.h - decides which processes are read from /proc, and when: all processes at the start, later those with lost
 * records.
 *
 * After a loss all processes are stale, but only sampled processes are read again, each at its next sample. Processes
 * whose sampled addresses all have mappings are limited to 20 per second. So the cost depends on the samples, not on
 * the number of processes of the host. The next reading of a process waits for 20 times the CPU time of its last
 * reading, at least a second. The minimum doubles after each reading that showed nothing new. A tenant may use at most
 * BUDGET_PROC_NS of CPU time per second. So a process that makes the kernel lose records (60,000 mappings: 60 ms for
 * each reading) uses at most 5 % of a CPU. A separate thread reads /proc (procreader.h).
 */
#ifndef PJ_RESCAN_H
#define PJ_RESCAN_H

#include "record/processes/budgets.h"
#include "record/processes/processes.h"

struct rescan;

/* Returns the state of this module for one recording. proc: true: starts the thread that reads /proc; false: only
 * tenants are looked up. processes and budgets must live longer than the result, which the caller frees with
 * rescan_free. */
struct rescan *rescan_new(struct processes *processes, struct budgets *budgets, bool proc);
void rescan_free(struct rescan *rescan);

/* Reads the processes pid[0..npids), or all processes if pid is NULL, for at most two seconds. Processes that were not
 * read by then are read when they are sampled. */
void rescan_start(struct rescan *rescan, const uint32_t *pid, size_t npids);

/* Reads process pid into the table now, without a budget. Waits at most two seconds. */
void rescan_read(struct processes *processes, uint32_t pid);

/* Records that records were lost up to time ns (CLOCK_MONOTONIC): process state from before ns is stale. Requests a
 * thread scan. */
void rescan_lost(struct rescan *rescan, uint64_t ns);

/* Requests a reading of a process if it, or its thread, is unknown or stale. The caller calls it before it handles a
 * sample at the virtual address ip. Waits up to 5 ms for the answer, but only if the thread, or the mapping of a user
 * address ip, is unknown. rescan_tick applies later answers. */
void rescan_sampled(struct rescan *rescan, uint32_t pid, uint32_t tid, uint64_t ip);

/* Returns true if a mapping, name or namespace record of a process, with time ns, must be applied; false if it must be
 * skipped. The caller calls it before it applies the record. Begins a storm and returns false if the tenant's CPU time
 * for /proc is used up. Then the mappings of the process are unknown, and its records are skipped for one second; for
 * another second whenever at least 1,000 of them were skipped in a second. After the storm the process is read from
 * /proc when it is sampled. A program with fewer than 64 of these records is charged nothing, so builds and servers
 * that start many processes are never charged. The name record of an exec is not counted, and needs no call. window: 1
 * + serial number of the open window. */
bool rescan_record(struct rescan *rescan, struct process *process, uint64_t window, uint64_t ns);

/* Returns true if a mapping, name or namespace record of this process at time ns must be skipped because of a storm;
 * then counts the record as a loss of the tenant. Returns false if the process has no storm at that time. The caller
 * may call it before it parses the record. */
bool rescan_skips(struct rescan *rescan, struct process *process, uint64_t ns);

/* To be called for a record that was not applied, because the tenant is over budget: counts it as a loss of the tenant
 * (OVER_MAPPINGS). */
void rescan_over(struct rescan *rescan, struct process *process);

/* Looks up the tenant of a process, and start_ticks, inner_pid and mount_ns as far as they are unknown. Waits at most
 * 20 ms (identities.h). window: 1 + serial number of the open window; process->tenant_window is set to it. */
void rescan_identify(struct rescan *rescan, struct process *process, uint64_t window);

/* Calls rescan_identify unless the tenant was looked up in this window already. */
void rescan_tenant(struct rescan *rescan, struct process *process, uint64_t window);

/* Applies up to 8 answers of the thread that reads /proc, and requests a thread scan if one is due at time now (ns).
 * Returns true once after each thread scan: then the threads whose EXIT records were lost have been ended. */
bool rescan_tick(struct rescan *rescan, uint64_t now);

#endif
