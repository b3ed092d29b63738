/* SPDX-License-Identifier: Apache-2.0 */
#include "common/process/urgency.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<linux/ioprio.h>)
#include <linux/ioprio.h>
#else /* headers before Linux 5.15 have no <linux/ioprio.h> */
#define IOPRIO_WHO_PROCESS 1
#define IOPRIO_CLASS_IDLE 3
#define IOPRIO_PRIO_VALUE(class, data) ((class) << 13 | (data))
#endif

#define SLICE_NS 100000 /* shortest time slice that the kernel accepts, in ns */

/* First version of struct sched_attr in linux/sched/types.h, which C libraries lack before glibc 2.41. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime; /* with SCHED_OTHER: length of the time slices in ns; 0: default of the kernel */
	uint64_t deadline, period;
};

static bool is_short; /* true if a thread of this process has set short time slices */

/* Returns the nice value of this thread. Sets errno to 0, or to the reason of a failure: -1 is a valid result. */
static int urgency_current(void)
{
	errno = 0;
	return getpriority(PRIO_PROCESS, 0);
}

/* Sets the time slices of this thread to `ns`. Its scheduling policy must be SCHED_OTHER. Kernels before 6.12 ignore
 * the value. Returns false on failure. */
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
	/* time slices belong to threads, and other threads still have short ones, so is_short stays true */
	if (is_short)
		cut_slices(0);
}

void urgency_lower_child(pid_t pid)
{
	int now;

	errno = 0;
	now = getpriority(PRIO_PROCESS, (id_t)pid);
	if (now < URGENCY_USUAL && errno == 0)
		setpriority(PRIO_PROCESS, (id_t)pid, URGENCY_USUAL);
}

void urgency_idle_disk(void)
{
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}
