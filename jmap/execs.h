/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execs.h - reports processes that execute another program, as it happens: a JVM that lives for a second cannot be
 * found by scanning /proc each second.
 *
 * Uses the kernel's process connector (linux/cn_proc.h), which only root of the initial namespaces may read. Without it
 * new JVMs are found when /proc is scanned.
 */
#ifndef PJ_EXECS_H
#define PJ_EXECS_H

#include "common/base.h"

#include <sys/types.h>

/* Connects to the kernel's process connector. Returns a descriptor for poll, which the caller closes; -1 and errno on
 * failure. */
int execs_open(void);

/* Stores up to `max` pids of processes that executed a program, from the messages that are waiting. Returns their
 * number, or -1 if messages were lost, so that /proc must be scanned. Does not wait. */
int execs_read(int fd, pid_t *pid, int max);

#endif
