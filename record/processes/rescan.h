/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rescan.h - decides which processes are read from /proc, and when: all at the start, later those of which records were
 * lost.
 *
 * After a loss every process is in doubt, but only those that are sampled are read again, each when its next sample
 * comes, first those whose samples have no mapping: the cost follows the samples, not the number of processes of the
 * host. A process waits 20 times the CPU time of its last reading, and twice as long after each reading that showed
 * nothing new; a tenant has at most BUDGET_CPU_NS each second. So a process that makes the kernel lose records (60,000
 * mappings: 60 ms for each reading) takes at most 5 % of a CPU. Reading is done by a thread of its own (procreader.h).
 */
#ifndef PJ_RESCAN_H
#define PJ_RESCAN_H

#include "record/processes/budgets.h"
#include "record/processes/processes.h"

struct rescan;

/* proc: /proc may be read; without it only tenants are looked up. */
struct rescan *rescan_new(struct processes *processes, struct budgets *budgets, bool proc);
void rescan_free(struct rescan *rescan);

/* Reads all processes, or those of a list, for at most two seconds; what is not read by then is read when it is
 * sampled. */
void rescan_start(struct rescan *rescan, const uint32_t *pid, size_t npids);

/* Reads one process, without a budget. */
void rescan_read(struct processes *processes, uint32_t pid);

/* Records were lost before ns. */
void rescan_lost(struct rescan *rescan, uint64_t ns);

/* Before a sample at ip: if its process or thread is unknown or in doubt, it is read, now or soon. Waits 5 ms if
 * nothing is known of the thread, or of the mapping that a user's ip is in; others are read when there is time. */
void rescan_sampled(struct rescan *rescan, uint32_t pid, uint32_t tid, uint64_t ip);

/* Before a record of a mapping, of a name or of the namespaces of a process, of time ns. False: its tenant makes more
 * of them than its budget allows. Then its mappings are not known until the storm is over: such records are skipped for
 * a second, and on while there are 1,000 in a second, and then /proc is read when it is sampled. The first 64 records
 * of a program are free: builds and servers that start processes never pay. The name that comes with an exec is no such
 * record. */
bool rescan_record(struct rescan *rescan, struct process *process, uint64_t window, uint64_t ns);

/* Is such a record of this process to be skipped at a time? Counts it, if so. To be called before the record is parsed,
 * too. */
bool rescan_skips(struct rescan *rescan, struct process *process, uint64_t ns);

/* Such a record was not followed: over budget. */
void rescan_over(struct rescan *rescan, struct process *process);

/* Looks up the tenant of a process, and its start_ticks, inner_pid and mount_ns where they are not known. Waits 20 ms
 * at most (identities.h). */
void rescan_identify(struct rescan *rescan, struct process *process, uint64_t window);

/* The same, if it was not done in this window (serial + 1) yet. */
void rescan_tenant(struct rescan *rescan, struct process *process, uint64_t window);

/* Takes what was read. True: threads that ended unnoticed are known to have ended now. */
bool rescan_tick(struct rescan *rescan, uint64_t now);

#endif
