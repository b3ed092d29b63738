/* SPDX-License-Identifier: Apache-2.0 */
/*
 * childend.h - makes a filter end after the processes that it forked: once the filter has ended, a process that waited
 * for it, or that signals its process group, finds none of them left.
 *
 * A filter in its sandbox may not call wait4(), but may poll a pidfd. So it opens the pidfd before it enters the
 * sandbox. It ignores SIGCHLD, so that the kernel reaps the child.
 */
#ifndef PJ_CHILDEND_H
#define PJ_CHILDEND_H

#include <sys/types.h>

/* Longest wait for a child in ms; a child that waits for an unresponsive file system does not end. */
enum { CHILDEND_MS = 500 };

/* Makes the kernel reap children that end. Must be called before the fork; a child that waits for children of its own
 * must reset SIGCHLD. */
void childend_prepare(void);

/* Returns a pidfd of the child; -1 on failure, as on kernels without pidfds (before Linux 5.3). */
int childend_watch(pid_t child);

/* Waits until the child ends, at most CHILDEND_MS, and closes the pidfd. The caller must have caused the child to end.
 * Does nothing if pidfd is -1. */
void childend_wait(int pidfd);

#endif
