/* SPDX-License-Identifier: Apache-2.0 */
#include "common/process/timelimit.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/process/taskid.h"
#include "common/process/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MS (SECOND_NS / 1000)
#define STACK_BYTES (256u << 10)
#define REST 20 /* time for which a fault domain rests, in multiples of the time that the caller waited */

enum worker_state { IDLE, RUNS, LEFT, ENDS };

struct worker {
	pthread_cond_t change;
	struct timelimit_call call;
	enum worker_state state;
	pid_t tid; /* thread id; 0: the thread has not started yet */
};

struct rest {
	uint64_t place, until;     /* place: fault domain; until: end of its rest in ns; 0: the slot is free */
	const struct worker *left; /* worker that was abandoned to this fault domain and has not returned; NULL: none */
};

static struct {
	pthread_mutex_t lock;
	unsigned running; /* number of calls whose callers wait now */
	struct rest rest[TIMELIMIT_LEFT_MAX];
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

static pthread_key_t own_worker; /* worker of the calling thread; its state is IDLE between calls */

/* ---- fault domains ----------------------------------------------------------------------------------------------- */

static bool is_resting(const struct rest *rest, uint64_t now)
{
	return rest->left || now < rest->until;
}

/* Returns the fault domain of the call. Releases the lock meanwhile: find_place reads files, and callers with higher
 * priorities need the lock, too. */
static uint64_t timelimit_find_place(const struct timelimit_call *call)
{
	uint64_t place;

	pthread_mutex_unlock(&pool.lock);
	place = call->find_place(call->arg);
	pthread_mutex_lock(&pool.lock);
	return place;
}

static bool any_rests(uint64_t now)
{
	for (size_t i = 0; i < TIMELIMIT_LEFT_MAX; i++)
		if (is_resting(&pool.rest[i], now))
			return true;
	return false;
}

static bool timelimit_rests(const struct timelimit_call *call)
{
	uint64_t now = clock_now(), place;

	if (!any_rests(now))
		return false;
	place = timelimit_find_place(call);
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

/* Returns a slot without an abandoned worker: the slot of fault domain `place`, or else the slot whose rest ends first.
 * There are enough slots for all running calls. */
static struct rest *timelimit_slot_of(uint64_t place)
{
	struct rest *best = NULL;

	for (size_t i = 0; i < TIMELIMIT_LEFT_MAX; i++) {
		struct rest *rest = &pool.rest[i];

		if (rest->place == place && !rest->left)
			return rest;
		if (!rest->left && (!best || rest->until < best->until))
			best = rest;
	}
	return best;
}

/* ---- worker threads ---------------------------------------------------------------------------------------------- */

/* Removes an abandoned worker from its slot (struct rest), after its function has returned. */
static void leave_slot(const struct worker *worker)
{
	for (size_t i = 0; i < TIMELIMIT_LEFT_MAX; i++)
		if (pool.rest[i].left == worker)
			pool.rest[i].left = NULL;
}

static void *timelimit_work(void *arg)
{
	struct worker *worker = arg;
	bool left;

	pthread_mutex_lock(&pool.lock);
	worker->tid = (pid_t)syscall(SYS_gettid);
	while (worker->state == IDLE || worker->state == RUNS) {
		if (worker->state == IDLE) {
			pthread_cond_wait(&worker->change, &pool.lock);
			continue;
		}
		pthread_mutex_unlock(&pool.lock);
		worker->call.f(worker->call.arg);
		pthread_mutex_lock(&pool.lock);
		worker->state = worker->state == RUNS ? IDLE : worker->state;
		pthread_cond_signal(&worker->change);
	}
	left = worker->state == LEFT;
	leave_slot(worker);
	pthread_mutex_unlock(&pool.lock);
	if (left)
		worker->call.drop(worker->call.arg);
	pthread_cond_destroy(&worker->change);
	free(worker);
	return NULL;
}

static struct worker *start_worker(void)
{
	struct worker *worker = mem_alloc(sizeof(*worker), 1);

	threads_condition(&worker->change);
	if (threads_start(NULL, STACK_BYTES, timelimit_work, worker) == 0)
		return worker;
	pthread_cond_destroy(&worker->change);
	free(worker);
	return NULL;
}

/* Ends the worker when the thread that it works for ends. */
static void end_worker(void *arg)
{
	struct worker *worker = arg;

	pthread_mutex_lock(&pool.lock);
	worker->state = ENDS;
	pthread_cond_signal(&worker->change);
	pthread_mutex_unlock(&pool.lock);
}

static struct worker *take_worker(void)
{
	struct worker *worker = pthread_getspecific(own_worker);

	if (worker)
		return worker;
	worker = start_worker();
	pthread_setspecific(own_worker, worker);
	return worker;
}

/* ---- state at a fork --------------------------------------------------------------------------------------------- */

/* Takes the lock before a fork, so that the child gets the lock in a known state: otherwise an abandoned worker, whose
 * function may return at any time, could hold the lock at this moment. */
static void before_fork(void)
{
	pthread_mutex_lock(&pool.lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&pool.lock);
}

/* Resets the pool in a forked child, which has none of the worker threads. The memory of the workers of other threads
 * stays allocated. */
static void start_child(void)
{
	free(pthread_getspecific(own_worker));
	pthread_setspecific(own_worker, NULL);
	pool.running = 0;
	for (size_t i = 0; i < TIMELIMIT_LEFT_MAX; i++)
		pool.rest[i].left = NULL;
	pthread_mutex_unlock(&pool.lock);
}

static void timelimit_prepare(void)
{
	pthread_key_create(&own_worker, end_worker);
	pthread_atfork(before_fork, after_fork, start_child);
}

/* ---- calls with a time limit ------------------------------------------------------------------------------------- */

/* Returns true if thread `tid` of this process uses or waits for a CPU, or has not started yet. */
static bool is_runnable(pid_t tid)
{
	char path[48], text[256];
	ssize_t got = -1;
	int fd;

	if (!tid)
		return true;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		got = read(fd, text, sizeof(text));
		close(fd);
	}
	return taskid_state((struct str){ text, got > 0 ? (size_t)got : 0 }) == 'R';
}

static bool still_runs(const struct worker *worker)
{
	pid_t tid = worker->tid;
	bool runs;

	pthread_mutex_unlock(&pool.lock);
	runs = is_runnable(tid);
	pthread_mutex_lock(&pool.lock);
	return runs;
}

static void timelimit_wait_until(struct worker *worker, uint64_t end)
{
	while (worker->state == RUNS && threads_wait(&worker->change, &pool.lock, end))
		continue;
}

static bool timelimit_wait_for(struct worker *worker)
{
	uint64_t start = clock_now(), end = start + worker->call.ms * MS, place;

	timelimit_wait_until(worker, end);
	while (worker->state == RUNS && end < start + worker->call.loaded_ms * MS && still_runs(worker)) {
		end += worker->call.ms * MS;
		timelimit_wait_until(worker, end);
	}
	if (worker->state != RUNS)
		return true;
	place = timelimit_find_place(&worker->call);
	if (worker->state != RUNS)
		return true;
	worker->state = LEFT;
	pthread_setspecific(own_worker, NULL);
	*timelimit_slot_of(place) =
		(struct rest){ .place = place, .until = end + REST * (end - start), .left = worker };
	return false;
}

bool timelimit_call(const struct timelimit_call *call)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct worker *worker = NULL;
	bool done = false;
	int error = EBUSY;

	pthread_once(&once, timelimit_prepare);
	pthread_mutex_lock(&pool.lock);
	if (!timelimit_rests(call) && pool.running + count_left() < TIMELIMIT_LEFT_MAX) {
		worker = take_worker();
		error = worker ? ETIMEDOUT : EAGAIN;
	}
	if (worker) {
		pool.running++;
		worker->call = *call;
		worker->state = RUNS;
		pthread_cond_signal(&worker->change);
		done = timelimit_wait_for(worker);
		pool.running--;
	}
	pthread_mutex_unlock(&pool.lock);
	if (!worker)
		call->drop(call->arg);
	errno = done ? errno : error;
	return done;
}

unsigned timelimit_left(void)
{
	unsigned n;

	pthread_mutex_lock(&pool.lock);
	n = count_left();
	pthread_mutex_unlock(&pool.lock);
	return n;
}
