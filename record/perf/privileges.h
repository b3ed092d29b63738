/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privileges.h - reduces the rights of pjrecord to a few capabilities, irrevocably.
 *
 * The capabilities are PERFMON (SYS_ADMIN if the process does not have PERFMON, as on kernels before 5.8), IPC_LOCK,
 * SYSLOG, SYS_PTRACE and DAC_READ_SEARCH, each only if the process has it. Root also keeps SYS_RESOURCE
 * (fdmessage_prepare). A recording that reads interpreters, as by default, also keeps SYS_NICE
 * (privileges_keep_realtime). There are no ambient or inheritable capabilities, no_new_privs is set, and other
 * capabilities are removed from the bounding set as far as allowed. The module uses system calls directly.
 *
 * The rights cannot be regained, not even for a COMMAND that needs the rights of its user. So the caller forks the
 * command first, and the child waits for a byte on a pipe before it calls exec (command.h). Capabilities belong to
 * threads, so the caller calls privileges_drop before other threads start.
 */
#ifndef PJ_PRIVILEGES_H
#define PJ_PRIVILEGES_H

#include "common/text.h"

#include <sys/types.h>

/* Sets *uid and *gid for `--user NAME`, where NAME is a name or a number. Exits with a message if the user does not
 * exist. */
void privileges_user(const char *name, uid_t *uid, gid_t *gid);

/* Changes the process to uid:gid with that user's supplementary groups, and drops all capabilities except those listed
 * at the top of this file. -1 keeps the current uid or gid; only root can change them. Exits with a message if the
 * kernel refuses, or if other threads run. */
void privileges_drop(uid_t uid, gid_t gid);

/* Makes privileges_drop keep SYS_NICE, too, for real-time threads (syncread.h). */
void privileges_keep_realtime(void);

/* Returns true if this capability (number CAP_...) is in the effective set of the process. */
bool privileges_has(unsigned cap);

/* Returns 0 if threads of this process may have real-time priority, tested in a child process. Returns EPERM if the
 * kernel refuses (capability SYS_NICE, limits of cgroups), or ENOSYS if a system call filter does (systemd's
 * RestrictRealtime=). The caller calls it before other threads start. */
int privileges_realtime(void);

/* Returns 0 if a process may open the memory of another process of the same user, else the errno of the failed test.
 * The test uses two child processes, because kernel.yama.ptrace_scope 1 allows a parent more than other processes. The
 * caller calls it before other threads start. */
int privileges_memory(void);

/* Appends the capabilities of pjrecord that are effective, such as "perfmon, ipc_lock", or "none". For messages and
 * --check. */
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
