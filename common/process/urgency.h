/* SPDX-License-Identifier: Apache-2.0 */
/*
 * urgency.h - sets the scheduling priority of pj's processes, for loaded machines.
 *
 * Samples wait to be unwound in rings that hold one second of them; and each lookup in a JVM waits for another thread.
 * At a load of 20, each wait takes some ms until a CPU is free, although pj needs less than 1 % of a CPU. So a process
 * that may do so raises its priority (nice), and each process requests short time slices: since Linux 6.12, a thread
 * with short slices need not wait until the slice of another thread ends. A process that was started with another nice
 * value than 0 keeps it. With a lower priority or another scheduling policy, it keeps its time slices, too. Sources:
 * sched(7), sched_setattr(2), Documentation/scheduler/sched-eevdf.rst, and __setparam_fair and PREEMPT_SHORT in
 * kernel/sched/.
 */
#ifndef PJ_URGENCY_H
#define PJ_URGENCY_H

#include <sys/types.h>

/* Nice values of the processes of pj. */
enum {
	URGENCY_NOW = -20,  /* processes for which samples wait */
	URGENCY_SOON = -15, /* a process that reads large objects of a target, for which samples may wait */
	URGENCY_USUAL = 0
};

/* Raises the priority of this thread, and of threads that it starts later, to URGENCY_NOW with short time slices. Must
 * be called before privileges are dropped: without CAP_SYS_NICE the nice value does not change. */
void urgency_raise(void);

/* Raises the nice value of this forked process to `max` if it is lower, and restores the default time slices. */
void urgency_lower(int max);

/* Raises the nice value of child process `pid` to URGENCY_USUAL if it is lower; does not change the time slices of the
 * child. */
void urgency_lower_child(pid_t pid);

/* Requests short time slices without changing the nice value: for a helper process whose results others wait for. */
void urgency_short_slices(void);

/* Gives this process idle I/O priority, because targets determine how many bytes it copies. Some kernels and I/O
 * schedulers ignore this. */
void urgency_idle_disk(void);

#endif
