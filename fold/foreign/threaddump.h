/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threaddump.h - thread dumps of HotSpot: jstack, jcmd PID Thread.print, SIGQUIT; any number after each other.
 *
 * Each thread of each dump that has Java frames is a sample; its event is the state of the thread. RUNNABLE, which is
 * folded unless another event is selected, includes threads in native methods; but the event of a thread in a native
 * method that waits (for input, a process, the garbage collector) is native-wait. The root frame is the thread's name.
 * Lines about locks are left out, as are threads of the VM, which have no frames, and the list of deadlocked threads,
 * which repeats stacks.
 */
#ifndef PJ_THREADDUMP_H
#define PJ_THREADDUMP_H

#include "fold/foreign/foreignstack.h"

struct threaddump {
	struct foreignstack *stack;
	bool open;          /* a thread is open: its state and frames follow */
	bool waits;         /* the leaf frame is a native method that waits */
	struct text thread; /* thread name, '"', blank, TID: identifies the thread */
	size_t name;        /* length of the name in `thread` */
	int64_t tid;
	char state[24];
};

/* Prepares *dump, which threaddump_free() frees. Samples are added through `stack`, which must stay valid until then.
 */
void threaddump_begin(struct threaddump *dump, struct foreignstack *stack);

/* Reads a line. Output of the program between dumps is no error. */
void threaddump_line(struct threaddump *dump, struct str line);

/* Ends the last thread of the input. */
void threaddump_end(struct threaddump *dump);

void threaddump_free(struct threaddump *dump);

#endif
