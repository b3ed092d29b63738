/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samehost.h - compares a recording with this host, boot and its processes.
 *
 * Live sources (/proc/PID/root, /tmp/perf-PID.map, /proc/kallsyms) are valid for a recording only if it was made on
 * this host during this boot, and if the process is the sampled one, as PIDs are reused. Record clocks are perf's own
 * (sched_clock) or CLOCK_MONOTONIC; a drift of 100 ppm of the uptime, at most a minute, is accepted.
 */
#ifndef PJ_SAMEHOST_H
#define PJ_SAMEHOST_H

#include "common/str.h"

#include <sys/types.h>

/* Reads host name, kernel release and user once. Call it before threads start and before rights are dropped. */
void samehost_prepare(void);

/* Returns the effective user of this process at samehost_prepare. */
uid_t samehost_user(void);

/* Compares host name and kernel release of a recording with this host; empty ones match no host. */
bool samehost_is_this_host(struct str hostname, struct str kernel_release);

/* Returns true if wall_ns on CLOCK_REALTIME and record_ns on the record's clock are the same time, during this boot. A
 * wall clock that was set since causes an error; 10 s are accepted. */
bool samehost_is_this_boot(uint64_t wall_ns, uint64_t record_ns);

/* Returns true if id is the id of the current boot (/proc/sys/kernel/random/boot_id), or begins it. */
bool samehost_boot_is(struct str id);

/* Returns true if process pid lives and started at that tick (field 22 of /proc/PID/stat). */
bool samehost_process_is(pid_t pid, uint64_t start_ticks);

/* Returns true if process pid lives and started before the sample, in this boot. A zombie does not live. */
bool samehost_process_lived(pid_t pid, uint64_t sample_ns);

/* Returns the PID of a process in its own PID namespace, as in the name of its perf map; 0 on failure. */
pid_t samehost_inner_pid(pid_t pid);

/* Parse the texts of /proc/PID/stat and /proc/PID/status. Pure; a comm may contain any byte. */
bool samehost_parse_stat(struct str stat, char *state, uint64_t *start_ticks);
pid_t samehost_parse_status(struct str status);

#endif
