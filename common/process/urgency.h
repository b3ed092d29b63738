/* SPDX-License-Identifier: Apache-2.0 */
/*
 * urgency.h - scheduling priority of pj's processes on a loaded machine.
 *
 * Samples wait in rings that have space for one second of them until they are unwound, and each lookup in a JVM waits
 * for another thread. At a load of 20 both wait some ms each time until a CPU is free, though they need less than 1 %
 * of a CPU. So a process with the right to do so raises its priority (nice), and each process requests short slices:
 * since Linux 6.12 a thread with short slices need not wait until the slice of another thread ends. A process that was
 * started with another nice value than 0 keeps it. With a lower priority, or another policy, it keeps its slices, too.
 * Sources: sched(7), sched_setattr(2), Documentation/scheduler/sched-eevdf.rst, and in kernel/sched/ __setparam_fair,
 * PREEMPT_SHORT.
 */
#ifndef PJ_URGENCY_H
#define PJ_URGENCY_H

#include <sys/types.h>

/* Nice values of pj's processes. */
enum {
	URGENCY_NOW = -20,  /* for processes that samples wait for */
	URGENCY_SOON = -15, /* for a process that reads large objects of a target, which samples may wait for */
	URGENCY_USUAL = 0
};

/* Raises the priority of this thread, and of threads that it starts later. Must be called before privileges are
 * dropped: without CAP_SYS_NICE the nice value does not change. */
void urgency_raise(void);

/* Raises the nice value of a forked process to `max` if it is lower, and gives it the kernel's default slices. */
void urgency_lower(int max);

/* Like urgency_lower(URGENCY_USUAL), for a child process; its slices stay as they are. */
void urgency_lower_child(pid_t pid);

/* Requests short slices without a change of the nice value: for a helper process whose answers others wait for. */
void urgency_short_slices(void);

/* Gives this process idle I/O priority, because targets determine the size of its copies. Some kernels and I/O
 * schedulers ignore that. */
void urgency_idle_disk(void);

#endif
