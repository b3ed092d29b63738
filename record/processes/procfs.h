/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procfs.h - reads and parses texts of /proc.
 *
 * Processes may end while they are read; functions then return the value for unknown.
 */
#ifndef PJ_PROCFS_H
#define PJ_PROCFS_H

#include "record/processes/processes.h"

/* Sets start_ticks, inner_pid and mount_ns of a process if they are unknown; values that cannot be read stay 0. */
void procfs_identify(struct process *process);

/* Returns the inode of this process's mount namespace, 0 if it is unknown. */
uint64_t procfs_own_mount_ns(void);

/* Parses one line of /proc/PID/maps; the path points into it. Returns false if the mapping is not executable or the
 * line is malformed. Pure. */
bool procfs_parse_map(struct str line, struct mapping *mapping, struct mapped_file *file);

/* Returns field 22 of /proc/PID/stat, in clock ticks since boot; 0 if it is unknown. Pure. */
uint64_t procfs_parse_start(struct str stat);

/* Returns the idle ns of each CPU since boot, indexed by CPU, from the text of /proc/stat: *n values in memory of
 * malloc. Pure. */
uint64_t *procfs_parse_idle(struct str stat, size_t *n);
/* As procfs_parse_idle, with the text of /proc/stat. */
uint64_t *procfs_idle(size_t *n);

#endif
