/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privileges.h - what pjrecord keeps of root: five capabilities, and no way back to more.
 *
 * PERFMON (SYS_ADMIN where the kernel is older than 5.8), IPC_LOCK, SYSLOG, SYS_PTRACE, DAC_READ_SEARCH, each only
 * where it was given. No ambient or inheritable ones, no_new_privs, and as far as allowed no others in the bounding
 * set. By system calls.
 *
 * There is no way back, also not for a COMMAND that is to have what its user had: fork it first, and let it wait in a
 * pipe until it may exec. Capabilities belong to threads: to be called before there are others.
 */
#ifndef PJ_PRIVILEGES_H
#define PJ_PRIVILEGES_H

#include "common/text.h"

#include <sys/types.h>

/* uid and gid of `--user NAME` (a name or a number); dies with a message when there is none. */
void privileges_user(const char *name, uid_t *uid, gid_t *gid);

/* Becomes uid:gid (-1: stays who it is; only root can become somebody else), without supplementary groups but those of
 * that user, and keeps the five. Dies when the kernel refuses, and when it is called with other threads running. */
void privileges_drop(uid_t uid, gid_t gid);

/* Is this capability (a CAP_ number) effective? */
bool privileges_has(unsigned cap);

/* CAP_PERFMON, or CAP_SYS_ADMIN, effective: may everything be recorded whatever perf_event_paranoid says? */
bool privileges_perfmon(void);

/* For messages and --check: "perfmon, ipc_lock", or "none". */
void privileges_text(struct text *text);

/* The numbers, as <linux/capability.h> may be older. */
enum {
	PRIV_DAC_OVERRIDE = 1,
	PRIV_DAC_READ_SEARCH = 2,
	PRIV_SETUID = 7,
	PRIV_IPC_LOCK = 14,
	PRIV_SYS_PTRACE = 19,
	PRIV_SYS_ADMIN = 21,
	PRIV_SYS_RESOURCE = 24,
	PRIV_SYSLOG = 34,
	PRIV_PERFMON = 38
};

#endif
