/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedstat.h - time of a process on a CPU and in the run queue; in the remaining time it was blocked.
 */
#ifndef PJ_SCHEDSTAT_H
#define PJ_SCHEDSTAT_H

#include "common/base.h"

#include <sys/types.h>

/* Opens /proc/PID/schedstat for the first thread of a process; pid 0 is this process. Returns a descriptor, which the
 * caller closes, or -1 if the kernel does not provide the file or the process has ended. */
int schedstat_open(pid_t pid);

/* Times of a thread since its start: on a CPU, and waiting in the run queue. */
struct schedstat {
	uint64_t ran, waited; /* ns on a CPU, and ns in the run queue */
};

/* Reads both times. Returns false and leaves *schedstat unchanged if fd is -1 or the process has ended. The kernel adds
 * a wait in the queue when that wait ends. */
bool schedstat_read(int fd, struct schedstat *schedstat);

#endif
