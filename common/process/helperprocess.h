/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helperprocess.h - starts helper processes, for work that may hang or crash, such as opening files of target
 * processes.
 */
#ifndef PJ_HELPERPROCESS_H
#define PJ_HELPERPROCESS_H

#include "common/base.h"

#include <sys/types.h>

enum { HELPERPROCESS_FD = 3, HELPERPROCESS_FDS_MAX = 4 };

/* Turns this process, a child after fork, into a helper process with that name. It keeps only stderr and fd, which
 * becomes HELPERPROCESS_FD: else descriptors of events, rings and locked windows would stay open. It ignores signals of
 * the terminal and SIGTERM; the recorder ends it. */
void helperprocess_become(const char *name, int fd);

/* Like helperprocess_become with n descriptors, which become HELPERPROCESS_FD and the following numbers. Both functions
 * set oom_score_adj, so that the kernel ends this process first if memory runs out. */
void helperprocess_become_with(const char *name, const int *fd, size_t n);

struct helperprocess {
	const char *name; /* name of the process, 15 bytes at most */
	const int *fd;    /* descriptors that the process keeps (helperprocess_become_with) */
	size_t fds;
	int urgency; /* lowest nice value of the process (urgency.h) */
	void (*run)(void *to);
	void *to;
};

/* Forks a helper process, which calls run(to) and then ends. Returns its PID, or 0 on failure. */
pid_t helperprocess_start(const struct helperprocess *helperprocess);

/* Like helperprocess_start, but the new process becomes a child of this process's parent, which must reap it. This
 * process must not have threads. */
pid_t helperprocess_start_sibling(const struct helperprocess *helperprocess);

/* Returns the size of this process's address space in bytes; 0 if unknown. The memory limit (RLIMIT_AS) of a forked
 * process has to include it. */
uint64_t helperprocess_memory(void);

#endif
