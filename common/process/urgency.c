/* SPDX-License-Identifier: Apache-2.0 */
#include "common/process/urgency.h"

#include <errno.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLICE_NS 100000 /* the shortest that the kernel takes */

/* struct sched_attr of linux/sched/types.h, as of its first version; C libraries have none before 2.41. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime; /* ns; of usual threads: their slice, 0: the kernel's own */
	uint64_t deadline, period;
};

static bool is_short; /* slices of some thread, by us */

/* A value of -1 is no error. */
static int urgency_current(void)
{
	errno = 0;
	return getpriority(PRIO_PROCESS, 0);
}

/* Of a thread with the usual policy. Kernels before 6.12 have no such slices, and ignore the request. */
static bool cut_slices(uint64_t ns)
{
	struct attr attr = { .size = sizeof(attr), .policy = SCHED_OTHER, .nice = urgency_current(), .runtime = ns };

	return syscall(SYS_sched_setattr, 0, &attr, 0) == 0;
}

void urgency_raise(void)
{
	int now = urgency_current();

	if (now > URGENCY_USUAL || errno || sched_getscheduler(0) != SCHED_OTHER)
		return;
	if (now == URGENCY_USUAL)
		setpriority(PRIO_PROCESS, 0, URGENCY_NOW);
	is_short = cut_slices(SLICE_NS);
}

void urgency_short_slices(void)
{
	if (sched_getscheduler(0) == SCHED_OTHER)
		is_short = cut_slices(SLICE_NS);
}

void urgency_lower(int max)
{
	if (urgency_current() < max)
		setpriority(PRIO_PROCESS, 0, max);
	if (is_short) /* and stays so: slices are a thread's, and others have short ones */
		cut_slices(0);
}

void urgency_idle_disk(void)
{
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}
