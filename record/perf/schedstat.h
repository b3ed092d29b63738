/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedstat.h - time of a process on a CPU, and in the queue for one: what is neither, it was blocked.
 */
#ifndef PJ_SCHEDSTAT_H
#define PJ_SCHEDSTAT_H

#include "common/base.h"

#include <sys/types.h>

/* Of a process (0: this one), of its first thread; -1: this kernel has none. */
int schedstat_open(pid_t pid);

struct schedstat {
	uint64_t ran, waited; /* ns */
};

/* False, and *schedstat as it was: fd is -1, or the process is gone. The kernel adds time in the queue when it ends. */
bool schedstat_read(int fd, struct schedstat *schedstat);

#endif
