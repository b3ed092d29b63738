/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execs.h - reports each exec of any process at once, so that pjmap also finds JVMs that live for less than a second.
 *
 * Uses the kernel's process connector (linux/cn_proc.h). Only root of the initial namespaces may read it. Without it
 * pjmap finds new JVMs only by its regular scans of /proc.
 */
#ifndef PJ_EXECS_H
#define PJ_EXECS_H

#include "common/base.h"

#include <sys/types.h>

/* Connects to the kernel's process connector. Returns a descriptor for poll, which the caller closes, or -1 and errno
 * on failure. */
int execs_open(void);

/* Reads the pending exec messages, and stores in pid[] the pids of the processes that executed a program, at most
 * `max`. Returns the number of pids, which is 0 if no message is pending; or -1 if messages were lost or on another
 * error: the caller must then scan /proc. Does not wait. */
int execs_read(int fd, pid_t *pid, int max);

#endif
