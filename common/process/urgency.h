/* SPDX-License-Identifier: Apache-2.0 */
/*
 * urgency.h - scheduling priority of pj's processes on a loaded machine.
 *
 * Samples wait in rings that have space for one second of them until they are unwound, and each lookup in a JVM waits
 * for another thread. At a load of 20 both wait some ms each time until a CPU is free, though they need less than 1 %
 * of a CPU. So a process with the right to do so raises its priority (nice), and each process requests short slices:
 * since Linux 6.12 a thread with short slices need not wait until the slice of another thread ends. A process that was
 * started with another priority than the usual one keeps it; one with a lower priority, or another policy, keeps its
 * slices, too. Sources: sched(7), sched_setattr(2), Documentation/scheduler/sched-eevdf.rst, and in kernel/sched/
 * __setparam_fair, PREEMPT_SHORT.
 */
#ifndef PJ_URGENCY_H
#define PJ_URGENCY_H

/* nice values */
enum {
	URGENCY_NOW = -20,  /* samples wait */
	URGENCY_SOON = -15, /* a sample may wait for this process, which reads a large object of a target */
	URGENCY_USUAL = 0
};

/* Raises the priority of this thread and of threads that it starts. Call it before privileges are dropped; without
 * CAP_SYS_NICE the nice value stays. */
void urgency_raise(void);

/* Lowers the priority of a forked process to the nice value `max` or a higher one, with the kernel's usual slices. */
void urgency_lower(int max);

/* Requests short slices at the present nice value: for a helper process for whose answers others wait. */
void urgency_short_slices(void);

/* Gives this process idle I/O priority, since targets determine the size of its copies. Some kernels and I/O schedulers
 * ignore it. */
void urgency_idle_disk(void);

#endif
