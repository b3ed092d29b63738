/* SPDX-License-Identifier: Apache-2.0 */
#include "common/process/threads.h"

#include "common/clocks.h"

#include <signal.h>
#include <time.h>

int threads_start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *arg), void *arg)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t detached;
	int error;

	pthread_attr_init(&attributes);
	if (!thread)
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (stack_bytes)
		pthread_attr_setstacksize(&attributes, stack_bytes);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	error = pthread_create(thread ? thread : &detached, &attributes, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return error;
}

void threads_condition(pthread_cond_t *condition)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

bool threads_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until)
{
	struct timespec deadline = { .tv_sec = (time_t)(until / SECOND_NS), .tv_nsec = (long)(until % SECOND_NS) };

	return pthread_cond_timedwait(condition, lock, &deadline) == 0;
}
