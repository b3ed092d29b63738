/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.h - starts threads that handle no signal, and waits for conditions until a time of clock_now.
 *
 * Signals are for the first thread of a tool, which waits for them: a handler that ran in another thread would not wake
 * it. Deadlines are on CLOCK_MONOTONIC, as the wall clock can be set back while a thread waits.
 */
#ifndef PJ_THREADS_H
#define PJ_THREADS_H

#include "common/base.h"

#include <pthread.h>

/* Starts run(arg) in a thread with all signals blocked. thread: to be joined; NULL: a detached thread. stack_bytes 0:
 * the default size. Returns 0 or an errno. */
int threads_start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *arg), void *arg);

/* Initializes a condition for threads_wait, which the caller destroys with pthread_cond_destroy. */
void threads_condition(pthread_cond_t *condition);

/* Like pthread_cond_wait, but returns false once clock_now() reaches `until`. */
bool threads_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until);

#endif
