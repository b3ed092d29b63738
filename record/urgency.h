/* SPDX-License-Identifier: Apache-2.0 */
/*
 * urgency.h - how soon we get a CPU, on a machine that has more to do than it can.
 *
 * Samples that are walked here wait in rings that hold a second of them, and each question to a JVM waits for a thread of ours: at a load
 * of 20, both wait for their turn behind all others, some ms each time, though they need less than a hundredth of a CPU. So who
 * may raises its priority (nice); who was started with another one than usual is left as it was wanted.
 */
#ifndef PJ_URGENCY_H
#define PJ_URGENCY_H

/* nice values */
enum {
	URGENCY_NOW = -20,  /* samples wait */
	URGENCY_SOON = -15, /* one of them may, for something large of a stranger's */
	URGENCY_USUAL = 0
};

/* Of this thread, and those that it starts. To be called while privileges are there; without CAP_SYS_NICE all stays as it is. */
void urgency_raise(void);

/* For a process of ours, after fork: no more than this. */
void urgency_lower(int most);

#endif
