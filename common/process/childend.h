/* SPDX-License-Identifier: Apache-2.0 */
/*
 * childend.h - lets a filter end after the processes that it forked: who waits for the filter, or signals its process
 * group, finds none of them.
 *
 * A filter in its sandbox may not call wait4(), but it may poll a pidfd. So it opens one before, and the kernel reaps
 * the child, since SIGCHLD is ignored.
 */
#ifndef PJ_CHILDEND_H
#define PJ_CHILDEND_H

#include <sys/types.h>

/* Longest wait for one child: one that waits for a file system that does not respond does not end. */
enum { CHILDEND_MS = 500 };

/* Makes the kernel reap children that end. Call it before the fork; the child resets SIGCHLD if it waits for children
 * of its own. */
void childend_prepare(void);

/* Returns a pidfd of the child, or -1: before Linux 5.3. */
int childend_watch(pid_t child);

/* Waits until the child ends, CHILDEND_MS at most, and closes the pidfd; does nothing for -1. The caller has made the
 * child end. */
void childend_wait(int pidfd);

#endif
