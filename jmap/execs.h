/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execs.h - which processes began another program, as it happens: a JVM that lives for a second cannot be found by
 * looking each second.
 *
 * The kernel's process connector (linux/cn_proc.h), which only root of the first namespaces may hear. Without it new
 * JVMs are found when /proc is looked through.
 */
#ifndef PJ_EXECS_H
#define PJ_EXECS_H

#include "common/base.h"

#include <sys/types.h>

int execs_open(void); /* a descriptor to poll; -1 and errno */

/* Processes that began a program since, at most `most`; -1: some may have been missed. */
int execs_read(int fd, pid_t *pid, int max);

#endif
