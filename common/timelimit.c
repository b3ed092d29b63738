/* SPDX-License-Identifier: Apache-2.0 */
#include "timelimit.h"

#include "arena.h"
#include "clocks.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MS (SECOND_NS / 1000)
#define STACK_BYTES (256u << 10)
#define REST 20 /* times the wait */

struct worker {
	struct worker *next; /* idle ones */
	pthread_cond_t change;
	pthread_t caller;
	struct timelimit_call call; /* f: NULL once it returned */
	pid_t tid;
	bool left;
};

struct rest {
	uint64_t place, until; /* until 0: free */
	const struct worker *left; /* waits there */
};

static struct {
	pthread_mutex_t lock;
	pid_t owner; /* threads end with a fork */
	struct worker *idle;
	unsigned running; /* calls that someone waits for */
	struct rest rest[TIMELIMIT_LEFT_MAX];
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- places -------------------------------------------------------------------------------------------------------- */

static bool is_resting(const struct rest *r, uint64_t now)
{
	return r->left || now < r->until;
}

static bool rests(const struct timelimit_call *call, uint64_t now)
{
	bool any = false;
	uint64_t place;

	for (size_t i = 0; i < TIMELIMIT_LEFT_MAX; i++)
		any |= is_resting(&pool.rest[i], now);
	if (!any)
		return false;
	place = call->find_place(call->arg);
	for (size_t i = 0; i < TIMELIMIT_LEFT_MAX; i++)
		if (pool.rest[i].place == place && is_resting(&pool.rest[i], now))
			return true;
	return false;
}

static unsigned count_left(void)
{
	unsigned n = 0;

	for (size_t i = 0; i < TIMELIMIT_LEFT_MAX; i++)
		n += pool.rest[i].left != NULL;
	return n;
}

/* A slot that no thread waits in: of that place, else the one whose rest ends first. There is one for each running call. */
static struct rest *slot_of(uint64_t place)
{
	struct rest *best = NULL;

	for (size_t i = 0; i < TIMELIMIT_LEFT_MAX; i++) {
		struct rest *r = &pool.rest[i];

		if (r->place == place && !r->left)
			return r;
		if (!r->left && (!best || r->until < best->until))
			best = r;
	}
	return best;
}

/* ---- threads ------------------------------------------------------------------------------------------------------- */

static void end_left(struct worker *w)
{
	for (size_t i = 0; i < TIMELIMIT_LEFT_MAX; i++)
		if (pool.rest[i].left == w)
			pool.rest[i].left = NULL;
	pthread_mutex_unlock(&pool.lock);
	w->call.drop(w->call.arg);
	pthread_cond_destroy(&w->change);
	free(w);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	pthread_mutex_lock(&pool.lock);
	w->tid = (pid_t)syscall(SYS_gettid);
	while (!w->left) {
		if (!w->call.f) {
			pthread_cond_wait(&w->change, &pool.lock);
			continue;
		}
		pthread_mutex_unlock(&pool.lock);
		w->call.f(w->call.arg);
		pthread_mutex_lock(&pool.lock);
		w->call.f = NULL;
		pthread_cond_signal(&w->change);
	}
	end_left(w);
	return NULL;
}

static struct worker *start_worker(void)
{
	struct worker *w = mem_alloc(sizeof(*w), 1);
	pthread_condattr_t monotonic;
	pthread_attr_t detached;
	sigset_t all, before;
	pthread_t thread;
	bool started;

	w->caller = pthread_self();
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->change, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&detached, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	started = pthread_create(&thread, &detached, work, w) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&detached);
	if (started)
		return w;
	pthread_cond_destroy(&w->change);
	free(w);
	return NULL;
}

/* In a child process there are no threads yet. What the parent's idle ones hold stays allocated. */
static void forget_threads(void)
{
	if (pool.owner == getpid())
		return;
	pool.owner = getpid();
	pool.idle = NULL;
	pool.running = 0;
	for (size_t i = 0; i < TIMELIMIT_LEFT_MAX; i++)
		pool.rest[i].left = NULL;
}

static struct worker *take_worker(void)
{
	for (struct worker **at = &pool.idle, *w; (w = *at); at = &w->next) {
		if (!pthread_equal(w->caller, pthread_self()))
			continue;
		*at = w->next;
		return w;
	}
	return start_worker();
}

/* ---- calls --------------------------------------------------------------------------------------------------------- */

/* True if a thread of ours uses or waits for a CPU, or has not started yet. */
static bool is_runnable(pid_t tid)
{
	char path[48], text[256];
	const char *state = NULL;
	ssize_t n = -1;
	int fd;

	if (!tid)
		return true;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (n > 0) {
		text[n] = 0;
		state = strrchr(text, ')');
	}
	return state && state[1] == ' ' && state[2] == 'R';
}

static void wait_until(struct worker *w, uint64_t end)
{
	struct timespec deadline = { .tv_sec = (time_t)(end / SECOND_NS), .tv_nsec = (long)(end % SECOND_NS) };

	while (w->call.f && pthread_cond_timedwait(&w->change, &pool.lock, &deadline) == 0)
		continue;
}

static bool wait_for(struct worker *w)
{
	uint64_t start = clock_now(), end = start + w->call.ms * MS;

	wait_until(w, end);
	while (w->call.f && end < start + w->call.loaded_ms * MS && is_runnable(w->tid)) {
		end += w->call.ms * MS;
		wait_until(w, end);
	}
	if (w->call.f) {
		uint64_t place = w->call.find_place(w->call.arg);

		w->left = true;
		*slot_of(place) = (struct rest){ .place = place, .until = end + REST * (end - start), .left = w };
		return false;
	}
	w->next = pool.idle;
	pool.idle = w;
	return true;
}

bool timelimit_call(const struct timelimit_call *call)
{
	struct worker *w = NULL;
	bool done = false;
	int error = ETIMEDOUT;

	pthread_mutex_lock(&pool.lock);
	forget_threads();
	if (!rests(call, clock_now()) && pool.running + count_left() < TIMELIMIT_LEFT_MAX) {
		w = take_worker();
		error = w ? error : EAGAIN;
	}
	if (w) {
		pool.running++;
		w->call = *call;
		pthread_cond_signal(&w->change);
		done = wait_for(w);
		pool.running--;
	}
	pthread_mutex_unlock(&pool.lock);
	if (!w)
		call->drop(call->arg);
	errno = done ? errno : error;
	return done;
}

unsigned timelimit_left(void)
{
	unsigned n;

	pthread_mutex_lock(&pool.lock);
	forget_threads();
	n = count_left();
	pthread_mutex_unlock(&pool.lock);
	return n;
}
