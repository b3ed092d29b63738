/* SPDX-License-Identifier: Apache-2.0 */
/* procfs.h - reads and parses texts of /proc. Processes may end while they are read. */
#ifndef PJ_PROCFS_H
#define PJ_PROCFS_H

#include "record/processes/processes.h"

/* Fills in start_ticks, inner_pid and mount_ns where they are not known; what cannot be read stays 0. */
void procfs_identify(struct process *process);

uint64_t procfs_own_mount_ns(void);

/* One line of /proc/PID/maps; path stays in line. False: not executable, or not a line. Pure. */
bool procfs_parse_map(struct str line, struct mapping *mapping, struct mapped_file *file);

/* Field 22 of /proc/PID/stat, in clock ticks since boot; 0: unknown. Pure. */
uint64_t procfs_parse_start(struct str stat);

/* Idle ns of each CPU since boot, by number, from the text of /proc/stat; *n of them, in memory of malloc. Pure. */
uint64_t *procfs_parse_idle(struct str stat, size_t *n);
uint64_t *procfs_idle(size_t *n);

#endif
