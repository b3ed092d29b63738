/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedstat.h - time of a process on a CPU and in the run queue; in the remaining time it was blocked.
 */
#ifndef PJ_SCHEDSTAT_H
#define PJ_SCHEDSTAT_H

#include "common/base.h"

#include <sys/types.h>

/* Opens the counters of the first thread of a process; pid 0 is this process. The caller closes the descriptor.
 * Returns -1 if the kernel does not provide them or the process has ended. */
int schedstat_open(pid_t pid);

/* Sums since the start of the thread. */
struct schedstat {
	uint64_t ran, waited; /* ns */
};

/* Reads the sums. Returns false and leaves *schedstat unchanged if fd is -1 or the process has ended. The kernel
 * adds queue time when the wait in the queue ends. */
bool schedstat_read(int fd, struct schedstat *schedstat);

#endif
