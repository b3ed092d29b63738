/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timelimit.h - calls a function that may never return, in a thread, and waits for a limited time.
 *
 * A process can make any reader of its /proc/PID/maps, mem, cmdline or environ wait for ever: one of its threads holds
 * the lock of the address space while it waits for a FUSE file system of its own (test/hostile/holdlock.c). Only
 * SIGKILL ends such a wait, so a reader that must continue abandons a thread to it.
 *
 * The number of abandoned threads is bounded. A place is a set of processes that can cause such waits together, usually
 * a tenant: at most one thread of each caller is left for it, and after a wait in vain the place rests for twenty times
 * as long, so it takes 5 % of the caller's time at most. A thread works for the thread that it was started by, at its
 * priority, and ends with it.
 */
#ifndef PJ_TIMELIMIT_H
#define PJ_TIMELIMIT_H

#include "common/base.h"

enum { TIMELIMIT_LEFT_MAX = 64 };

struct timelimit_call {
	void (*f)(void *arg);
	void (*drop)(void *arg);           /* frees arg if timelimit_call returns false */
	uint64_t (*find_place)(void *arg); /* called while any place rests, and after a wait in vain, also while f(arg)
					      runs. Must not wait */
	void *arg;                         /* on the heap */
	unsigned ms;
	unsigned loaded_ms; /* in place of ms while the thread uses or waits for a CPU; 0: ms */
};

/* Returns true once f(arg) has returned. Returns false, errno ETIMEDOUT, if f did not return in time, or was not called
 * because its place rests or too many threads are left; arg is then dropped, by the thread once f returns. EAGAIN: no
 * thread can be started. Threads may call this at the same time. A child process after fork() has none of these
 * threads, and starts its own. */
bool timelimit_call(const struct timelimit_call *call);

/* Returns the number of threads that wait for a function that has not returned in time. */
unsigned timelimit_left(void);

#endif
