/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timelimit.h - calls a function that may never return, in another thread, and waits for a limited time.
 *
 * A process can block any reader of its /proc/PID/maps, mem, cmdline or environ for ever: one of its threads holds the
 * lock of the address space while it waits for a FUSE file system of its own (test/hostile/holdlock.c). Only SIGKILL
 * ends the reader's wait. So a reader that must continue abandons the thread that waits.
 *
 * The number of abandoned threads is bounded. A fault domain (`place` in the code) is a set of processes that can cause
 * these waits together, usually a tenant. Each caller abandons at most one thread to one fault domain. After a call
 * without a result, the fault domain rests: no calls are made for twenty times as long as the caller waited, so the
 * waits take at most 5 % of the caller's time. Each calling thread has a worker thread of its own, which has the same
 * priority and ends with the calling thread.
 */
#ifndef PJ_TIMELIMIT_H
#define PJ_TIMELIMIT_H

#include "common/base.h"

enum { TIMELIMIT_LEFT_MAX = 64 };

struct timelimit_call {
	void (*f)(void *arg);
	/* frees arg; called if timelimit_call returns false, but not before f(arg) has returned */
	void (*drop)(void *arg);
	/* Returns the fault domain of the call. Called before f(arg) if any fault domain rests, and while f(arg) still
	 * runs after its time limit. Must not block. */
	uint64_t (*find_place)(void *arg);
	void *arg; /* argument of f, drop and find_place; on the heap */
	/* time limit in ms */
	unsigned ms;
	/* time limit in ms, in place of `ms`, while the worker thread uses or waits for a CPU; 0: `ms` applies */
	unsigned loaded_ms;
};

/* Calls f(arg) in a worker thread. Returns true if f returned in time. Returns false with errno ETIMEDOUT if f did not
 * return in time; with EBUSY if f was not called, because the fault domain of the call rests or too many threads are
 * abandoned; with EAGAIN if no thread could be started. After false, drop(arg) is called: by this function if f was not
 * called, otherwise by the worker thread once f has returned. Several threads may call this function at the same time.
 * A forked child has none of these worker threads, and starts its own. */
bool timelimit_call(const struct timelimit_call *call);

/* Returns the number of abandoned threads whose function has not returned. */
unsigned timelimit_left(void);

#endif
