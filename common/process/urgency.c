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
#else /* headers before Linux 5.15 */
#define IOPRIO_WHO_PROCESS 1
#define IOPRIO_CLASS_IDLE 3
#define IOPRIO_PRIO_VALUE(class, data) ((class) << 13 | (data))
#endif

#define SLICE_NS 100000 /* the shortest slice that the kernel accepts */

/* struct sched_attr of linux/sched/types.h in its first version; C libraries do not have it before glibc 2.41. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime; /* ns; for SCHED_OTHER: length of the slices, 0: the kernel's default */
	uint64_t deadline, period;
};

static bool is_short; /* true if this process set short slices for one of its threads */

/* Returns the nice value of this thread. errno is 0 unless that fails, since -1 is a valid value. */
static int urgency_current(void)
{
	errno = 0;
	return getpriority(PRIO_PROCESS, 0);
}

/* Sets the slices of this thread, which has policy SCHED_OTHER, to ns. Kernels before 6.12 ignore it. Returns false on
 * failure. */
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
	if (is_short) /* is_short stays true, since slices belong to a thread, and others still have short ones */
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
