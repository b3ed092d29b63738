/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.h - starts threads that handle no signals, and waits for conditions until a time of clock_now.
 *
 * All other threads block signals, because the first thread of a tool waits for them: a handler that ran in another
 * thread would not wake it. Deadlines use CLOCK_MONOTONIC, because the wall clock can be set back while a thread waits.
 */
#ifndef PJ_THREADS_H
#define PJ_THREADS_H

#include "common/base.h"

#include <pthread.h>

/* Starts run(arg) in a thread with all signals blocked. Sets *thread, which the caller joins; with thread NULL, the
 * thread is detached. stack_bytes: size of its stack, 0: default. Returns 0 or an errno. */
int threads_start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *arg), void *arg);

/* Initializes a condition for threads_wait. The caller destroys it with pthread_cond_destroy. */
void threads_condition(pthread_cond_t *condition);

/* Like pthread_cond_wait, but with a time limit: returns true after a wake-up, false once clock_now() reaches `until`
 * (ns). */
bool threads_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until);

#endif
