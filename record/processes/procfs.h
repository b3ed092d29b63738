/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procfs.h - reads and parses texts of /proc.
 *
 * Processes may end while they are read; functions then return the value for unknown.
 */
#ifndef PJ_PROCFS_H
#define PJ_PROCFS_H

#include "record/processes/processes.h"

/* Reads those of start_ticks, inner_pid and mount_ns of a process that are unknown (0). Values that cannot be read stay
 * 0. */
void procfs_identify(struct process *process);

/* Returns the inode of the mount namespace of this process; 0 if unknown. */
uint64_t procfs_own_mount_ns(void);

/* Parses one line of /proc/PID/maps; file->path points into the line. Returns false if the mapping is not executable or
 * the line is malformed. Pure. */
bool procfs_parse_map(struct str line, struct mapping *mapping, struct mapped_file *file);

/* Returns the start time of a process, in clock ticks since boot: field 22 of the text of /proc/PID/stat; 0 if the text
 * is malformed. Pure. */
uint64_t procfs_parse_start(struct str stat);

/* Returns true if a process has user stacks, by the text of its /proc/PID/stat: it is no thread of the kernel, and not
 * all of its threads have ended. Pure. */
bool procfs_has_user_stacks(struct str stat);

/* Parses the text of /proc/stat. Returns an array from malloc with *n idle times since boot, in ns, indexed by CPU.
 * Pure. */
uint64_t *procfs_parse_idle(struct str stat, size_t *n);
/* As procfs_parse_idle, but reads /proc/stat. */
uint64_t *procfs_idle(size_t *n);

#endif
