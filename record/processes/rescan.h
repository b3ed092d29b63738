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

/* Starts the reader thread if `proc` is set; without it only tenants are looked up. processes and budgets must live
 * longer. */
struct rescan *rescan_new(struct processes *processes, struct budgets *budgets, bool proc);
void rescan_free(struct rescan *rescan);

/* Reads all processes, or those of a list, for at most two seconds; the remaining ones are read when they are
 * sampled. */
void rescan_start(struct rescan *rescan, const uint32_t *pid, size_t npids);

/* Reads one process into the table at once, without a budget. Waits for at most two seconds. */
void rescan_read(struct processes *processes, uint32_t pid);

/* Marks all state from records before ns as stale, because records were lost. */
void rescan_lost(struct rescan *rescan, uint64_t ns);

/* Call it before a sample at ip: reads the process if it or its thread is unknown or stale, now or soon. Waits at
 * most 5 ms, and only if nothing is known of the thread or of the mapping that a user's ip is in; other processes
 * are read when there is time. */
void rescan_sampled(struct rescan *rescan, uint32_t pid, uint32_t tid, uint64_t ip);

/* Call it before a record of a mapping, of a name or of the namespaces of a process, with its time ns. Returns false
 * if the tenant causes more of them than its budget allows. Then a storm begins and the mappings of the process are
 * unknown: such records are skipped for a second, and longer while there are 1,000 in a second; after that /proc is
 * read when the process is sampled. The first 64 records of a program are free: builds and servers that start
 * processes never pay. The name that comes with an exec is no such record. */
bool rescan_record(struct rescan *rescan, struct process *process, uint64_t window, uint64_t ns);

/* Returns true if such a record of this process at time ns is to be skipped, and counts it. It may be called before
 * the record is parsed. */
bool rescan_skips(struct rescan *rescan, struct process *process, uint64_t ns);

/* Counts a record that was not followed because the tenant is over budget. */
void rescan_over(struct rescan *rescan, struct process *process);

/* Looks up the tenant of a process, and its start_ticks, inner_pid and mount_ns if they are unknown. Waits at most
 * 20 ms (identities.h). window is the serial + 1 of the open window. */
void rescan_identify(struct rescan *rescan, struct process *process, uint64_t window);

/* As rescan_identify, but at most once in a window. */
void rescan_tenant(struct rescan *rescan, struct process *process, uint64_t window);

/* Applies the answers of the reader thread. Returns true if a thread scan has found the threads whose EXIT records
 * were lost. */
bool rescan_tick(struct rescan *rescan, uint64_t now);

#endif
