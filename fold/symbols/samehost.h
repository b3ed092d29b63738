/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samehost.h - may this machine be asked about what a recording saw?
 *
 * What lives here (/proc/PID/root, /tmp/perf-PID.map, /proc/kallsyms) tells about a recording only when host and boot
 * are these, and the process is the one that was sampled: numbers of processes are used again. Clocks are perf's own
 * (sched_clock) or CLOCK_MONOTONIC; they may drift apart by 100 millionths, which is allowed for up
 * to a minute.
 */
#ifndef PJ_SAMEHOST_H
#define PJ_SAMEHOST_H

#include "common/str.h"

#include <sys/types.h>

/* Reads what identity_is_this_host and identity_user return: to be called before threads start and before rights are
 * given up. */
void samehost_prepare(void);

/* The effective user of this process. */
uid_t samehost_user(void);

/* Both as the recording says; empty ones are those of no machine. */
bool samehost_is_this_host(struct str hostname, struct str kernel_release);

/* Were wall and record (ns) the same moment on CLOCK_REALTIME and the record's clock, during this boot? Wrong by as
 * much as the wall clock was set since: 10 s are allowed. */
bool samehost_is_this_boot(uint64_t wall_ns, uint64_t record_ns);

/* Is this the boot with that id (/proc/sys/kernel/random/boot_id)? */
bool samehost_boot_is(struct str id);

/* Is pid alive, and did it begin at that tick (field 22 of /proc/PID/stat)? */
bool samehost_process_is(pid_t pid, uint64_t start_ticks);

/* Is pid alive, and did it begin before the sample was taken, in this boot? A zombie is not alive. */
bool samehost_process_lived(pid_t pid, uint64_t sample_ns);

/* What pid is called in its own PID namespace, as in the name of its perf map; 0 when that cannot be told. */
pid_t samehost_inner_pid(pid_t pid);

/* The texts of /proc/PID/stat and /proc/PID/status, for the two above and for tests. Pure; a comm may hold anything. */
bool samehost_parse_stat(struct str stat, char *state, uint64_t *start_ticks);
pid_t samehost_parse_status(struct str status);

#endif
