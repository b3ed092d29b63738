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

/* Makes the present process, a child after fork, a helper process called `name`. It keeps only fd, which becomes
 * HELPERPROCESS_FD, and stderr: descriptors of events, rings and locked windows would otherwise stay open. It ignores
 * signals of the terminal; the recorder ends it. */
void helperprocess_become(const char *name, int fd);

/* As helperprocess_become with several descriptors, which become HELPERPROCESS_FD and the following ones. If memory
 * runs out, the kernel ends such a process first (oom_score_adj). */
void helperprocess_become_with(const char *name, const int *fd, size_t n);

struct helperprocess {
	const char *name; /* of the process, 15 bytes at most */
	const int *fd;    /* its descriptors */
	size_t fds;
	int urgency; /* lower limit of its nice value (urgency.h) */
	void (*run)(void *to);
	void *to;
};

/* Forks a helper process, which ends when `run` returns. Returns its PID, or 0 on failure. */
pid_t helperprocess_start(const struct helperprocess *helperprocess);

/* As helperprocess_start, but the helper process is a child of this process's parent, which reaps it. This process may
 * have no threads. */
pid_t helperprocess_start_sibling(const struct helperprocess *helperprocess);

/* Returns the bytes of address space of this process. A memory limit of a forked process has to include them. */
uint64_t helperprocess_memory(void);

#endif
