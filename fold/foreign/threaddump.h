/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threaddump.h - thread dumps of HotSpot: jstack, jcmd PID Thread.print, SIGQUIT; any number after each other.
 *
 * Each thread of each dump that has Java frames is a sample; its event is the state of the thread. RUNNABLE, which is
 * folded unless another event is selected, includes threads in native methods; those in one that waits for input, a
 * process or the garbage collector are native-wait instead. The first frame is the name of the thread. Lines about
 * locks are left out, as are threads of the VM, which have no frames, and the list of deadlocked threads, which repeats
 * stacks.
 */
#ifndef PJ_THREADDUMP_H
#define PJ_THREADDUMP_H

#include "fold/foreign/foreignstack.h"

struct threaddump {
	struct foreignstack *stack;
	bool open;          /* frames of a thread follow */
	bool waits;         /* the leaf frame is a native method that waits */
	struct text thread; /* "name" and number */
	size_t name;        /* bytes of the name in it */
	int64_t tid;
	char state[24];
};

/* stack: where samples go; it must stay. */
void threaddump_begin(struct threaddump *dump, struct foreignstack *stack);

/* Takes a line. Lines of other programs between dumps are no errors. */
void threaddump_line(struct threaddump *dump, struct str line);

/* Adds the last thread. */
void threaddump_end(struct threaddump *dump);

void threaddump_free(struct threaddump *dump);

#endif
