/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samehost.h - compares a recording with this host, boot and its processes.
 *
 * Live sources (/proc/PID/root, /tmp/perf-PID.map, /proc/kallsyms) are valid for a recording only if it was made on
 * this host during this boot, and if the process is the sampled one, as PIDs are reused. The times of records are from
 * perf's own clock (sched_clock) or from CLOCK_MONOTONIC; a difference of the two clocks of 100 ppm of the uptime, at
 * most a minute, is accepted.
 */
#ifndef PJ_SAMEHOST_H
#define PJ_SAMEHOST_H

#include "common/str.h"

#include <sys/types.h>

/* Reads host name, kernel release and user once. Call it before threads start and before rights are dropped. */
void samehost_prepare(void);

/* Returns the effective user id of this process at the time of samehost_prepare. */
uid_t samehost_user(void);

/* Returns true if host name and kernel release of a recording are those of this host; false if they differ or are
 * empty. */
bool samehost_is_this_host(struct str hostname, struct str kernel_release);

/* Returns true if wall_ns on CLOCK_REALTIME and record_ns on the recording's clock are the same time, during this boot.
 * Returns false if they differ by more than 10 s (and the time in suspend), for example because the wall clock was
 * set. */
bool samehost_is_this_boot(uint64_t wall_ns, uint64_t record_ns);

/* Returns true if id is the id of the current boot (/proc/sys/kernel/random/boot_id), or the beginning of it; otherwise
 * false. */
bool samehost_boot_is(struct str id);

/* Returns true if process pid lives, and started start_ticks clock ticks after boot (field 22 of /proc/PID/stat).
 * Otherwise returns false, also for a zombie. */
bool samehost_process_is(pid_t pid, uint64_t start_ticks);

/* Returns true if process pid lives, and started before time sample_ns of this boot, in ns on the recording's clock.
 * Returns false if sample_ns is 0. A zombie does not live. */
bool samehost_process_lived(pid_t pid, uint64_t sample_ns);

/* Returns the PID of a process in its own PID namespace, as in the name of its perf map; 0 on failure. */
pid_t samehost_inner_pid(pid_t pid);

/* Sets *state and *start_ticks (clock ticks after boot) from the text of /proc/PID/stat. Returns false if the text is
 * malformed. The comm in the text may contain any byte. */
bool samehost_parse_stat(struct str stat, char *state, uint64_t *start_ticks);
/* Returns the PID in the innermost PID namespace from the text of /proc/PID/status (NSpid); 0 if the text has none. */
pid_t samehost_parse_status(struct str status);

#endif
