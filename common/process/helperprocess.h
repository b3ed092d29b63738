/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helperprocess.h - a process of ours that does what may hang or crash: files of those who are profiled are opened
 * there.
 */
#ifndef PJ_HELPERPROCESS_H
#define PJ_HELPERPROCESS_H

#include "common/base.h"

#include <sys/types.h>

enum { HELPERPROCESS_FD = 3, HELPERPROCESS_FDS_MAX = 4 };

/* To be called by the child after fork. It keeps only fd, which becomes HELPERPROCESS_FD, and stderr:
 * descriptors of events, rings and locked windows would live on with it. Signals of the terminal are for the recorder,
 * which then requests its end. */
void helperprocess_become(const char *name, int fd);

/* The same with several descriptors, which become HELPERPROCESS_FD and the following ones. When memory runs out, the
 * kernel ends such a process first (oom_score_adj). */
void helperprocess_become_with(const char *name, const int *fd, size_t n);

struct helperprocess {
	const char *name; /* of the process, 15 bytes at most */
	const int *fd;    /* its descriptors */
	size_t fds;
	int urgency; /* its nice value is no lower (urgency.h) */
	void (*run)(void *to);
	void *to;
};

/* Forks such a process, which ends when `run` returns. Returns its PID, 0 if there is none. */
pid_t helperprocess_start(const struct helperprocess *helperprocess);

/* The same, but it becomes a child of this process's parent, which reaps it. This process may have no threads. */
pid_t helperprocess_start_sibling(const struct helperprocess *helperprocess);

/* Bytes of address space of this process: what a limit of memory has to allow for in a process that was forked. */
uint64_t helperprocess_memory(void);

#endif
