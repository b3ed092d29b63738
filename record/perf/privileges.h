/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privileges.h - reduces the rights of pjrecord to five capabilities, irrevocably.
 *
 * These are PERFMON (SYS_ADMIN if the process lacks that, as on kernels before 5.8), IPC_LOCK, SYSLOG, SYS_PTRACE and
 * DAC_READ_SEARCH, each only if the process has it; root keeps SYS_RESOURCE, too (fdmessage_prepare). There are no
 * ambient or inheritable capabilities, no_new_privs is set, and other capabilities are removed from the bounding set as
 * far as allowed. The module uses system calls directly.
 *
 * The rights cannot be regained, not even for a COMMAND that needs the rights of its user: fork it first, and let it
 * wait for a byte on a pipe before it calls exec (command.h). Capabilities belong to threads, so call
 * privileges_drop before other threads start.
 */
#ifndef PJ_PRIVILEGES_H
#define PJ_PRIVILEGES_H

#include "common/text.h"

#include <sys/types.h>

/* Sets the uid and gid of `--user NAME`, a name or a number. Exits with a message if there is no such user. */
void privileges_user(const char *name, uid_t *uid, gid_t *gid);

/* Changes the process to uid:gid and keeps only these capabilities. The supplementary groups become those of that
 * user. -1 keeps the current uid or gid; only root can change them. Exits with a message if the kernel refuses, or if
 * other threads run. */
void privileges_drop(uid_t uid, gid_t gid);

/* Makes privileges_drop keep SYS_NICE, too, for real-time threads (syncread.h). */
void privileges_keep_realtime(void);

/* Returns true if this capability (number CAP_...) is in the effective set of the process. */
bool privileges_has(unsigned cap);

/* Returns true if CAP_PERFMON or CAP_SYS_ADMIN is effective, so that perf_event_paranoid does not apply. */
bool privileges_perfmon(void);

/* Returns 0 if threads of this process may have real-time priority, by a trial in a child process. Else returns EPERM
 * if the kernel refuses (capability SYS_NICE, limits of cgroups), or ENOSYS if a filter of system calls does (systemd's
 * RestrictRealtime=). Call it before other threads start. */
int privileges_realtime(void);

/* Returns 0 if a process may open the memory of another process of the same user, else the errno of that, by a trial
 * with two child processes: kernel.yama.ptrace_scope 1 allows a parent what it forbids others. Call it before other
 * threads start. */
int privileges_memory(void);

/* Appends the effective ones of the capabilities that pjrecord uses, such as "perfmon, ipc_lock", or "none". Used by
 * messages and --check. */
void privileges_text(struct text *text);

/* Numbers of capabilities (CAP_...); older versions of <linux/capability.h> lack some of them. */
enum {
	PRIV_DAC_OVERRIDE = 1,
	PRIV_DAC_READ_SEARCH = 2,
	PRIV_SETUID = 7,
	PRIV_IPC_LOCK = 14,
	PRIV_SYS_PTRACE = 19,
	PRIV_SYS_ADMIN = 21,
	PRIV_SYS_NICE = 23,
	PRIV_SYS_RESOURCE = 24,
	PRIV_SYSLOG = 34,
	PRIV_PERFMON = 38
};

#endif
