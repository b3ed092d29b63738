/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedstat.h - reads the times for which the first thread of a process was on a CPU and in the run queue; in the
 * remaining time it was blocked.
 */
#ifndef PJ_SCHEDSTAT_H
#define PJ_SCHEDSTAT_H

#include "common/base.h"

#include <sys/types.h>

/* Opens /proc/PID/schedstat of the first thread of a process; pid 0 means this process. Returns a descriptor, which the
 * caller closes; -1 if the kernel does not provide the file or the process has ended. */
int schedstat_open(pid_t pid);

/* Times of a thread since its start. */
struct schedstat {
	uint64_t ran, waited; /* ran: time on a CPU in ns; waited: time in the run queue in ns */
};

/* Reads both times into *schedstat. Returns false and leaves *schedstat unchanged if fd is -1 or the process has ended.
 * `waited` does not include a wait in the run queue that has not ended. */
bool schedstat_read(int fd, struct schedstat *schedstat);

#endif
