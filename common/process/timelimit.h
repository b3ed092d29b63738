/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timelimit.h - calls a function that may never return, in a thread, and waits for a limited time.
 *
 * A process can make any reader of its /proc/PID/maps, mem, cmdline or environ wait for ever: one of its threads holds
 * the lock of the address space while it waits for a FUSE file system of its own (test/hostile/holdlock.c). Only
 * SIGKILL ends such a wait, so a reader that must continue abandons a thread to it.
 *
 * The number of abandoned threads is bounded. A place is a set of processes that can cause such waits together, usually
 * a tenant: each caller abandons at most one thread to it. After a call without an answer the place rests for twenty
 * times as long as the caller waited, so it takes at most 5 % of the caller's time. A thread works for the thread that
 * it was started by, at its priority, and ends with it.
 */
#ifndef PJ_TIMELIMIT_H
#define PJ_TIMELIMIT_H

#include "common/base.h"

enum { TIMELIMIT_LEFT_MAX = 64 };

struct timelimit_call {
	void (*f)(void *arg);
	void (*drop)(void *arg); /* frees arg; called if timelimit_call returns false */
	/* Returns the place of the call. Called while any place rests, and after a call without an answer, also while
	 * f(arg) runs. Must not block. */
	uint64_t (*find_place)(void *arg);
	void *arg; /* argument of the functions, on the heap */
	unsigned ms;
	unsigned loaded_ms; /* limit instead of ms while the thread uses or waits for a CPU; 0: none, ms applies */
};

/* Calls f(arg) in a thread and returns true if it returned in time. Returns false with errno ETIMEDOUT if it did not,
 * or was not called because its place rests or too many threads are abandoned; with EAGAIN if no thread could be
 * started. Then drop(arg) is called, by the thread once f has returned. Several threads may call this at the same time.
 * After fork() a child process has none of these threads and starts its own. */
bool timelimit_call(const struct timelimit_call *call);

/* Returns the number of abandoned threads, which still wait for their function. */
unsigned timelimit_left(void);

#endif
