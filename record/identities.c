/* SPDX-License-Identifier: Apache-2.0 */
#include "identities.h"

#include "arena.h"
#include "clocks.h"
#include "procfs.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STACK_BYTES (256u << 10)

struct worker {
	struct identities *owner;
	uint32_t pid; /* 0: nothing is asked */
	bool answered, good, left;
	struct identity found;
};

struct identities {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	struct worker *worker; /* NULL: none waits for a request */
	unsigned threads, left;
	bool stop;
	uint64_t second, waited; /* ns */
	bool (*read)(uint32_t pid, struct identity *found);
};

/* ---- the thread ---------------------------------------------------------------------------------------------------- */

static bool read_identity(uint32_t pid, struct identity *found)
{
	struct process process = { .pid = pid };
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	procfs_identify(&process);
	*found = (struct identity){ .tenant = tenant_of(fd),
				    .start_ticks = process.start_ticks,
				    .mount_ns = process.mount_ns,
				    .inner_pid = process.inner_pid };
	close(fd);
	return true;
}

static void free_all(struct identities *i)
{
	pthread_mutex_destroy(&i->lock);
	pthread_cond_destroy(&i->work);
	pthread_cond_destroy(&i->done);
	free(i);
}

static void *run(void *arg)
{
	struct worker *w = arg;
	struct identities *i = w->owner;
	bool last;

	pthread_mutex_lock(&i->lock);
	while (!w->left && !i->stop) {
		struct identity found = { 0 };
		uint32_t pid = w->pid;
		bool good;

		if (!pid || w->answered) {
			pthread_cond_wait(&i->work, &i->lock);
			continue;
		}
		pthread_mutex_unlock(&i->lock);
		good = i->read(pid, &found);
		pthread_mutex_lock(&i->lock);
		w->found = found;
		w->good = good;
		w->answered = true;
		pthread_cond_signal(&i->done);
	}
	i->left -= w->left;
	last = --i->threads == 0 && i->stop;
	pthread_mutex_unlock(&i->lock);
	free(w);
	if (last)
		free_all(i);
	return NULL;
}

/* Leaves i->worker NULL if no thread can be started. */
static void start_worker(struct identities *i)
{
	struct worker *w = mem_alloc(sizeof(*w), 1);
	pthread_attr_t detached;
	sigset_t all, before;
	pthread_t thread;

	w->owner = i;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&detached, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	if (pthread_create(&thread, &detached, run, w) == 0) {
		i->worker = w;
		i->threads++;
	} else {
		free(w);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&detached);
}

/* ---- requests ------------------------------------------------------------------------------------------------------ */

struct identities *identities_new(void)
{
	struct identities *i = mem_alloc(sizeof(*i), 1);
	pthread_condattr_t monotonic;

	i->read = read_identity;
	pthread_mutex_init(&i->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&i->work, &monotonic);
	pthread_cond_init(&i->done, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return i;
}

void identities_free(struct identities *i)
{
	bool none;

	if (!i)
		return;
	pthread_mutex_lock(&i->lock);
	i->stop = true;
	none = i->threads == 0; /* else the last thread frees it */
	pthread_cond_broadcast(&i->work);
	pthread_mutex_unlock(&i->lock);
	if (none)
		free_all(i);
}

void identities_reader(struct identities *i, bool (*read)(uint32_t pid, struct identity *found))
{
	i->read = read;
}

unsigned identities_left(struct identities *i)
{
	unsigned left;

	pthread_mutex_lock(&i->lock);
	left = i->left;
	pthread_mutex_unlock(&i->lock);
	return left;
}

/* With the lock: waits for the worker until a time. */
static void wait_for(struct identities *i, uint64_t until)
{
	struct timespec deadline = { .tv_sec = (time_t)(until / SECOND_NS), .tv_nsec = (long)(until % SECOND_NS) };

	while (!i->worker->answered)
		if (pthread_cond_timedwait(&i->done, &i->lock, &deadline))
			break;
}

/* With the lock. */
static bool find(struct identities *i, uint32_t pid, uint64_t now, struct identity *found)
{
	struct worker *w;
	bool good = false;

	if (!i->worker && i->left < IDENTITY_LEFT_MAX)
		start_worker(i);
	w = i->worker;
	if (!w)
		return false;
	w->pid = pid;
	w->answered = false;
	pthread_cond_signal(&i->work);
	wait_for(i, now + IDENTITY_WAIT_NS);
	if (w->answered) {
		w->pid = 0;
		good = w->good;
		*found = w->found;
	} else {
		w->left = true;
		i->left++;
		i->worker = NULL;
	}
	return good;
}

bool identities_find(struct identities *i, uint32_t pid, struct identity *found)
{
	uint64_t now = clock_now();
	bool good;

	if (now / SECOND_NS != i->second) {
		i->second = now / SECOND_NS;
		i->waited = 0;
	}
	if (i->waited >= IDENTITY_WAITS_NS)
		return false;
	pthread_mutex_lock(&i->lock);
	good = find(i, pid, now, found);
	pthread_mutex_unlock(&i->lock);
	now = clock_now() - now;
	if (now > IDENTITY_WAIT_NS / 2) /* ordinary ones take 0.1 ms: all processes of a large host may be looked up in a second */
		i->waited += now;
	return good;
}
