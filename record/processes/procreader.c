/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/procreader.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "record/processes/procfs.h"
#include "common/process/threads.h"
#include "common/process/timelimit.h"
#include "common/process/urgency.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
	QUEUE = 256,           /* requests that wait */
	ANSWERS = 64,          /* not taken yet: the thread waits */
	THREADS_MAX = 4096,    /* of one process that are named at a time */
	SURVEY_MAX = 1 << 20,  /* threads of the host */
	MAPS_BYTES = 8 << 20,  /* of /proc/PID/maps: 65,530 lines of usual length */
	SAVED_BYTES = 4 << 20, /* of its executable lines: MAPPINGS_MAX of usual length */
	CHUNK = 64 << 10,
	STOP_MS = 2 * PROCREADER_STALL_MS /* to wait for the thread at the end */
};

struct request {
	uint32_t pid, tid;
};

struct procreader {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	struct request queue[QUEUE];
	size_t first, n;
	struct procreader_answer *head, **tail;
	size_t nanswers;
	bool busy, stop, ended, left; /* left: behind, by procreader_stop */
};

/* ---- reading -------------------------------------------------------------------------------------------------------
 */

static int open_of(uint32_t pid, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static ssize_t procreader_read_start(int fd, char *to, size_t n)
{
	ssize_t got = fd < 0 ? -1 : read(fd, to, n);

	if (fd >= 0)
		close(fd);
	return got;
}

static uint64_t start_ticks(uint32_t pid)
{
	char text[1024];
	ssize_t n = procreader_read_start(open_of(pid, "stat"), text, sizeof(text));

	return n > 0 ? procfs_parse_start((struct str){ text, (size_t)n }) : 0;
}

static void add_thread(struct procreader_answer *a, uint32_t pid, uint32_t tid, bool named)
{
	struct procreader_thread *t;
	char path[64];
	ssize_t n;

	if ((a->nthreads & (a->nthreads - 1)) == 0)
		a->thread = mem_grow(a->thread, sizeof(*t), a->nthreads ? 2 * a->nthreads : 1);
	t = &a->thread[a->nthreads];
	*t = (struct procreader_thread){ .pid = pid, .tid = tid };
	if (named) {
		snprintf(path, sizeof(path), "task/%u/comm", tid);
		n = procreader_read_start(open_of(pid, path), t->comm, COMM_MAX - 1);
		if (n <= 0)
			return;
		t->comm[n - (t->comm[n - 1] == '\n')] = 0;
	}
	a->nthreads++;
}

/* All threads of a process, up to `most` of the answer. */
static void add_threads(struct procreader_answer *a, uint32_t pid, bool named, size_t max)
{
	char path[64];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));) {
		uint64_t tid;

		if (!str_u64(str_of(e->d_name), &tid))
			continue;
		if (a->nthreads >= max) {
			a->cut = true;
			break;
		}
		add_thread(a, pid, (uint32_t)tid, named);
	}
	if (d)
		closedir(d);
}

/* Keeps the executable ones of the complete lines at the end of t, from `from` on, and counts them; bytes behind the
 * last newline stay. */
static size_t keep_executable(struct text *t, size_t from, uint32_t *lines)
{
	struct str rest = { t->p + from, t->n - from };
	size_t to = from;

	for (ptrdiff_t end; (end = str_find(rest, '\n')) >= 0; rest = str_from(rest, (size_t)end + 1)) {
		struct mapping m = { 0 };
		struct mapped_file f = { 0 };
		size_t n = (size_t)end + 1;

		if (!procfs_parse_map(str_head(rest, (size_t)end), &m, &f))
			continue;
		memmove(t->p + to, rest.p, n);
		to += n;
		++*lines;
	}
	memmove(t->p + to, rest.p, rest.n);
	t->n = to + rest.n;
	return to;
}

static void read_maps(struct procreader_answer *a)
{
	int fd = open_of(a->pid, "maps");
	size_t from = 0, total = 0;
	uint32_t lines = 0;
	ssize_t n = -1;

	while (fd >= 0 && total < MAPS_BYTES && from < SAVED_BYTES && lines < MAPPINGS_MAX) {
		text_reserve(&a->maps, CHUNK);
		n = read(fd, a->maps.p + a->maps.n, CHUNK);
		if (n <= 0)
			break;
		a->maps.n += (size_t)n;
		total += (size_t)n;
		from = keep_executable(&a->maps, from, &lines);
	}
	a->maps.n = from;
	a->maps_cut = n > 0;
	a->cut |= a->maps_cut;
	if (fd >= 0)
		close(fd);
}

static void procreader_scan_threads(struct procreader_answer *a)
{
	DIR *d = opendir("/proc");

	a->there = d;
	for (struct dirent *e; d && (e = readdir(d));) {
		uint64_t pid;

		if (str_u64(str_of(e->d_name), &pid))
			add_threads(a, (uint32_t)pid, false, SURVEY_MAX);
	}
	if (d)
		closedir(d);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

struct reading {
	struct request q;
	struct procreader_answer *a;
};

static void read_request(void *arg)
{
	struct reading *r = arg;
	struct procreader_answer *a = r->a;
	uint32_t tid = r->q.tid;
	uint64_t before = cpu_ns();

	a->start_ticks = start_ticks(a->pid);
	a->there = a->start_ticks;
	if (!tid) {
		add_threads(a, a->pid, true, THREADS_MAX);
	} else {
		add_thread(a, a->pid, a->pid, true);
		if (tid != a->pid)
			add_thread(a, a->pid, tid, true);
	}
	read_maps(a);
	a->cost_ns = cpu_ns() - before;
}

static void drop_reading(void *arg)
{
	struct reading *r = arg;

	procreader_answer_free(r->a);
	free(r);
}

static uint64_t procreader_find_place(void *arg)
{
	const struct reading *r = arg;

	return tenant_place_of_pid(r->q.pid);
}

static struct procreader_answer *new_answer(uint32_t pid)
{
	struct procreader_answer *a = mem_alloc(sizeof(*a), 1);

	a->pid = pid;
	a->started = clock_now();
	return a;
}

static struct procreader_answer *procreader_send_answer(struct request q)
{
	struct procreader_answer *a = new_answer(q.pid);
	struct reading *r;

	if (!q.pid) { /* lists of processes and threads wait for none of them */
		uint64_t before = cpu_ns();

		procreader_scan_threads(a);
		a->cost_ns = cpu_ns() - before;
		return a;
	}
	r = mem_alloc(sizeof(*r), 1);
	*r = (struct reading){ q, a };
	if (timelimit_call(&(struct timelimit_call){ read_request, drop_reading, procreader_find_place, r,
						     PROCREADER_STALL_MS, 20 * PROCREADER_STALL_MS })) {
		free(r);
		return a;
	}
	a = new_answer(q.pid);
	a->stalled = true;
	return a;
}

/* ---- the thread ----------------------------------------------------------------------------------------------------
 */

static void free_all(struct procreader *r)
{
	for (struct procreader_answer *a = r->head, *next; a; a = next) {
		next = a->next;
		procreader_answer_free(a);
	}
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->work);
	pthread_cond_destroy(&r->done);
	free(r);
}

static void put_answer(struct procreader *r, struct procreader_answer *a)
{
	*r->tail = a;
	r->tail = &a->next;
	r->nanswers++;
}

static void *procreader_run(void *arg)
{
	struct procreader *r = arg;
	bool left;

	urgency_lower(URGENCY_USUAL);
	pthread_mutex_lock(&r->lock);
	while (!r->stop) {
		struct procreader_answer *a;
		struct request q;

		if (r->n == 0 || r->nanswers >= ANSWERS) {
			pthread_cond_wait(&r->work, &r->lock);
			continue;
		}
		q = r->queue[r->first];
		r->first = (r->first + 1) % QUEUE;
		r->n--;
		r->busy = true;
		pthread_mutex_unlock(&r->lock);
		a = procreader_send_answer(q);
		pthread_mutex_lock(&r->lock);
		r->busy = false;
		put_answer(r, a);
		pthread_cond_signal(&r->done);
	}
	r->ended = true;
	left = r->left;
	pthread_cond_signal(&r->done);
	pthread_mutex_unlock(&r->lock);
	if (left)
		free_all(r);
	return NULL;
}

struct procreader *procreader_start(void)
{
	struct procreader *r = mem_alloc(sizeof(*r), 1);

	r->tail = &r->head;
	pthread_mutex_init(&r->lock, NULL);
	threads_condition(&r->work);
	threads_condition(&r->done);
	if (threads_start(NULL, 0, procreader_run, r) == 0)
		return r;
	free_all(r);
	return NULL;
}

void procreader_stop(struct procreader *r)
{
	uint64_t until = clock_now() + STOP_MS * (SECOND_NS / 1000);
	bool ended;

	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_signal(&r->work);
	while (!r->ended && threads_wait(&r->done, &r->lock, until))
		continue;
	ended = r->ended;
	r->left = !ended;
	pthread_mutex_unlock(&r->lock);
	if (ended)
		free_all(r);
}

bool procreader_request(struct procreader *r, uint32_t pid, uint32_t tid)
{
	bool space;

	pthread_mutex_lock(&r->lock);
	space = r->n < QUEUE;
	if (space)
		r->queue[(r->first + r->n++) % QUEUE] = (struct request){ pid, tid };
	pthread_cond_signal(&r->work);
	pthread_mutex_unlock(&r->lock);
	return space;
}

bool procreader_survey(struct procreader *r)
{
	return procreader_request(r, 0, 0);
}

struct procreader_answer *procreader_take(struct procreader *r, uint64_t wait_ns)
{
	uint64_t until = clock_now() + wait_ns;
	struct procreader_answer *a;

	pthread_mutex_lock(&r->lock);
	while (!r->head && wait_ns && (r->n || r->busy) && threads_wait(&r->done, &r->lock, until))
		continue;
	a = r->head;
	if (a) {
		r->head = a->next;
		r->tail = r->head ? r->tail : &r->head;
		r->nanswers--;
		pthread_cond_signal(&r->work);
	}
	pthread_mutex_unlock(&r->lock);
	return a;
}

void procreader_answer_free(struct procreader_answer *a)
{
	if (!a)
		return;
	text_free(&a->maps);
	free(a->thread);
	free(a);
}
