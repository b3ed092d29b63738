/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procfs.h - the state of processes as /proc tells it: what ran before the recording began, and what is not known since
 * records were lost.
 *
 * Read after events were enabled, so what changes meanwhile comes as a record, too; told twice does no harm. Everything
 * may end while it is read.
 */
#ifndef PJ_PROCFS_H
#define PJ_PROCFS_H

#include "processes.h"

/* All processes (pid NULL), or those of a list: comms of all threads, executable mappings. */
void procfs_read(struct processes *p, const uint32_t *pid, size_t npids);

/* One process and its threads; false when it is gone. */
bool procfs_read_one(struct processes *p, uint32_t pid);

/* Fills in start_ticks, inner_pid and mount_ns where they are not known; what cannot be read stays 0. */
void procfs_identify(struct process *process);

uint64_t procfs_own_mount_ns(void);

/* One line of /proc/PID/maps; path stays in line. False: not executable, or not a line. Pure. */
bool procfs_parse_map(struct str line, struct mapping *m, struct mapped_file *f);

/* Idle ns of each CPU since boot, by number, from the text of /proc/stat; *n of them, in memory of malloc. Pure. */
uint64_t *procfs_parse_idle(struct str stat, size_t *n);
uint64_t *procfs_idle(size_t *n);

#endif
