/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procfs.h - reads and parses texts of /proc.
 *
 * A process may end while it is read. Functions then return the value that stands for unknown.
 */
#ifndef PJ_PROCFS_H
#define PJ_PROCFS_H

#include "record/processes/processes.h"

/* Reads start_ticks, inner_pid and mount_ns of a process as far as they are unknown (0). Facts that cannot be read stay
 * 0. May block on the process. */
void procfs_identify(struct process *process);

/* Returns the inode of the mount namespace of this process; 0 if unknown. */
uint64_t procfs_own_mount_ns(void);

/* Parses one line of /proc/PID/maps to *mapping and *file; file->path points into the line. Returns false if the
 * mapping is not executable or the line is malformed. Pure: no input or output. */
bool procfs_parse_map(struct str line, struct mapping *mapping, struct mapped_file *file);

/* Returns the start time of a process from the text of /proc/PID/stat, in clock ticks since boot (field 22); 0 if the
 * text is malformed. Pure: no input or output. */
uint64_t procfs_parse_start(struct str stat);

/* Returns true if a process has user stacks, according to the text of its /proc/PID/stat: it is no kernel thread and
 * has a thread that has not ended. Pure: no input or output. */
bool procfs_has_user_stacks(struct str stat);

/* Parses the text of /proc/stat. Returns an array of *n idle times (with I/O waits) since boot in ns, indexed by CPU,
 * which the caller frees with free(). Returns NULL, and sets *n to 0, if the text has no idle time. Pure: no input or
 * output. */
uint64_t *procfs_parse_idle(struct str stat, size_t *n);
/* Reads /proc/stat. Returns an array of *n idle times (with I/O waits) since boot in ns, indexed by CPU, which the
 * caller frees with free(). Returns NULL, and sets *n to 0, if no idle time can be read. */
uint64_t *procfs_idle(size_t *n);

#endif
