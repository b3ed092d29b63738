/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threaddump.h - reads thread dumps of HotSpot (jstack, jcmd PID Thread.print, SIGQUIT), one or more in one input.
 *
 * Each thread with Java frames is a sample in each dump. The event of the sample is the state of the thread; RUNNABLE
 * is folded unless another event is selected. HotSpot also reports RUNNABLE for threads in native methods. A thread in
 * a native method that waits (for input, a process, the garbage collector) gets the event native-wait instead. The root
 * frame is the name of the thread. A thread that carries a virtual thread is RUNNABLE, and has the frames of both.
 * Lines about locks are left out. Threads of the VM, which have no frames, and the list of deadlocked threads, which
 * repeats stacks, are left out, too.
 */
#ifndef PJ_THREADDUMP_H
#define PJ_THREADDUMP_H

#include "fold/foreign/foreignstack.h"

struct threaddump {
	struct foreignstack *stack;
	bool open;          /* true if a thread is open; its state and frames follow */
	bool waits;         /* true if the leaf frame is a native method that waits: the event is then native-wait */
	struct text thread; /* identity of the thread: its name, '"', a blank, its TID */
	size_t name;        /* length in bytes of the name in `thread` */
	int64_t tid;
	size_t leaf; /* index of the first frame of the mounted virtual thread; 0: none is mounted */
	char state[24];
};

/* Initializes *dump; threaddump_free() frees it. Samples are added through `stack`, which must stay valid until then.
 */
void threaddump_begin(struct threaddump *dump, struct foreignstack *stack);

/* Reads a line. Output of the program between dumps is not an error. */
void threaddump_line(struct threaddump *dump, struct str line);

/* Adds the last thread of the input as a sample. */
void threaddump_end(struct threaddump *dump);

void threaddump_free(struct threaddump *dump);

#endif
