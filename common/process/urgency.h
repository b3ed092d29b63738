/* SPDX-License-Identifier: Apache-2.0 */
/*
 * urgency.h - how soon we get a CPU, on a machine that has more to do than it can.
 *
 * Samples that are walked here wait in rings that hold a second of them, and each question to a JVM waits for a thread
 * of ours: at a load of 20, both wait for their turn after all others, some ms each time, though they need less than a
 * hundredth of a CPU. So a permitted process raises its priority (nice), and each requests short slices: since
 * Linux 6.12 who has them need not wait until the slice of another one ends. Who was started with another priority than
 * usual keeps it, and who has a lower one, or another policy, its slices. Sources: sched(7), sched_setattr(2),
 * Documentation/scheduler/sched-eevdf.rst, and in kernel/sched/ __setparam_fair, PREEMPT_SHORT.
 */
#ifndef PJ_URGENCY_H
#define PJ_URGENCY_H

/* nice values */
enum {
	URGENCY_NOW = -20,  /* samples wait */
	URGENCY_SOON = -15, /* one of them may, for something large of a target process */
	URGENCY_USUAL = 0
};

/* Of this thread, and those that it starts. To be called while privileges are there; without CAP_SYS_NICE the nice
 * value stays. */
void urgency_raise(void);

/* For a process of ours, after fork: no more than this, and the kernel's slices. */
void urgency_lower(int max);

/* Short slices, at the nice value that the process has: for a helper that others wait for. */
void urgency_short_slices(void);

/* The disk serves this process when no other process waits for it: what it copies is hostile in size. Kernels and
 * schedulers without priorities of I/O ignore that. */
void urgency_idle_disk(void);

#endif
