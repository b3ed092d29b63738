/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helperprocess.h - starts helper processes for work that may hang or crash, such as opening files of target processes.
 */
#ifndef PJ_HELPERPROCESS_H
#define PJ_HELPERPROCESS_H

#include "common/base.h"

#include <sys/types.h>

enum { HELPERPROCESS_FD = 3, HELPERPROCESS_FDS_MAX = 4 };

/* Turns this process, a child after fork(), into a helper process with this name. It keeps only stderr and fd, which
 * becomes HELPERPROCESS_FD; stdin and stdout become /dev/null. If it kept more, descriptors of events, rings and locked
 * windows would stay open. It ignores SIGTERM and the signals of the terminal, because the tool that started it ends
 * it. */
void helperprocess_become(const char *name, int fd);

/* Like helperprocess_become, but keeps n descriptors, at most HELPERPROCESS_FDS_MAX, which become HELPERPROCESS_FD and
 * the following numbers. Both functions set oom_score_adj, so that the kernel kills this process first if memory runs
 * out. */
void helperprocess_become_with(const char *name, const int *fd, size_t n);

struct helperprocess {
	const char *name; /* name of the process (PR_SET_NAME), at most 15 bytes */
	const int *fd;    /* descriptors that the process keeps: HELPERPROCESS_FD and the following numbers */
	size_t fds;
	int urgency; /* minimum of the nice value of the process: a lower value is raised to it (urgency_lower) */
	void (*run)(void *to);
	void *to;
};

/* Forks a helper process that calls run(to) and then ends. Returns its PID, or 0 on failure. */
pid_t helperprocess_start(const struct helperprocess *helperprocess);

/* Like helperprocess_start, but the helper becomes a child of the parent of this process; that parent must reap it.
 * This process must not have threads. */
pid_t helperprocess_start_sibling(const struct helperprocess *helperprocess);

/* Returns true if a helper process is blocked: it neither runs nor waits for a CPU. Returns false if its state cannot
 * be read. */
bool helperprocess_is_blocked(pid_t pid);

/* Returns the size of the address space of this process in bytes; 0 if unknown. A memory limit (RLIMIT_AS) for a forked
 * process must include it. */
uint64_t helperprocess_memory(void);

#endif
