/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rescan.h - decides which processes are read from /proc, and when: all at the start, later those with lost records.
 *
 * After a loss all processes are stale, but only sampled ones are read again, each when its next sample comes, first
 * those whose samples have no mapping: the cost depends on the samples, not on the number of processes of the host.
 * A process waits 20 times the CPU time of its last reading, and twice as long after each reading that showed
 * nothing new; a tenant has at most BUDGET_CPU_NS each second. So a process that makes the kernel lose records
 * (60,000 mappings: 60 ms for each reading) takes at most 5 % of a CPU. A thread of its own does the reading
 * (procreader.h).
 */
#ifndef PJ_RESCAN_H
#define PJ_RESCAN_H

#include "record/processes/budgets.h"
#include "record/processes/processes.h"

struct rescan;

/* Starts the thread that reads /proc if `proc` is true; otherwise only tenants are looked up. processes and budgets
 * must live longer than the result. */
struct rescan *rescan_new(struct processes *processes, struct budgets *budgets, bool proc);
void rescan_free(struct rescan *rescan);

/* Reads the processes pid[0..npids), or all processes if pid is NULL, for at most two seconds. Processes that remain
 * are read when they are sampled. */
void rescan_start(struct rescan *rescan, const uint32_t *pid, size_t npids);

/* Reads process pid into the table at once, without a budget. Waits at most two seconds. */
void rescan_read(struct processes *processes, uint32_t pid);

/* Marks process state from before ns as stale, because records were lost, and requests a thread scan. */
void rescan_lost(struct rescan *rescan, uint64_t ns);

/* Call it before a sample at address ip. Requests a reading if the process or its thread is unknown or stale. Waits up
 * to 5 ms for the answer only if the thread, or the mapping at a user address ip, is unknown; other answers are applied
 * later (rescan_tick). */
void rescan_sampled(struct rescan *rescan, uint32_t pid, uint32_t tid, uint64_t ip);

/* Call it before a mapping, name or namespace record of a process, with its time ns. Returns true if the record is to
 * be applied. Returns false during a storm, and begins a storm if the tenant's CPU time for /proc is used up: then the
 * mappings of the process are unknown and such records are skipped for a second, and for another one as long as there
 * are 1,000 in a second. After the storm the process is read from /proc when it is sampled. A program with fewer than
 * 64 such records pays nothing, so builds and servers that start processes never pay. The name that comes with an exec
 * is no such record. */
bool rescan_record(struct rescan *rescan, struct process *process, uint64_t window, uint64_t ns);

/* Returns true if a mapping, name or namespace record of this process at time ns is to be skipped because of a storm,
 * and counts it. May be called before the record is parsed. */
bool rescan_skips(struct rescan *rescan, struct process *process, uint64_t ns);

/* Counts a record that was not applied because the tenant is over budget. */
void rescan_over(struct rescan *rescan, struct process *process);

/* Looks up the tenant of a process, and those of start_ticks, inner_pid and mount_ns that are unknown. Waits at most 20
 * ms (identities.h). window is 1 + serial number of the open window. */
void rescan_identify(struct rescan *rescan, struct process *process, uint64_t window);

/* Calls rescan_identify unless the tenant was looked up in this window. */
void rescan_tenant(struct rescan *rescan, struct process *process, uint64_t window);

/* Applies up to 8 answers of the thread that reads /proc, and requests a thread scan if one is due. Returns true once
 * after a thread scan: the threads whose EXIT records were lost are ended then. */
bool rescan_tick(struct rescan *rescan, uint64_t now);

#endif
